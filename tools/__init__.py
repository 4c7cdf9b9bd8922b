"""What the project's developers run; nothing about this is installed."""
