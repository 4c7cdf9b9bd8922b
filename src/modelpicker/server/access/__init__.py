"""Who may use a server, and for what: tokens and callers."""
