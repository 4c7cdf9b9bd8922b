"""The files of the collections that ship, and their cards."""
