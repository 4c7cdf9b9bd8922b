"""What the documentation site shows of the code itself: commands, the HTTP API, public names, settings, errors."""
