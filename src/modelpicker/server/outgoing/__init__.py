"""Webhooks that the server sends: what is news, a place on disk where it waits, and whoever sends it."""
