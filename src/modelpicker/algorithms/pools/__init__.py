"""Pools: all items are there from the start, and the item most worth a label is asked about next."""
