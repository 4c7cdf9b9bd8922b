"""The scripts that made the collections that ship; not part of the package, and not needed to use it."""
