"""The routes of the API: one file a group of them."""
