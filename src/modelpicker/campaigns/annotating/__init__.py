"""Items for people who label in another tool, and what they say there."""
