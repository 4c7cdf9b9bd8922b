"""Measurements too slow or too large for the tests; each is a script that prints a table."""
