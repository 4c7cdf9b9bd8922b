"""What has happened in a campaign: the events, the store that keeps them, and the history made from them."""
