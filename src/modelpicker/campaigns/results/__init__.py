"""What a campaign says: the pick, the standing, gaps and intervals, the status, and samples for charts."""
