"""Campaigns: over every kind of storage, under faults, and with many at once."""
