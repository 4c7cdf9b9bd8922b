"""What the project's developers run; nothing of this is installed."""
