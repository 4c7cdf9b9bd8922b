"""Blocks that mkdocstrings fills with signatures and docstrings, one per public name."""

from collections.abc import Iterable


def blocks(names: Iterable[str]) -> str:
    """One block per name of `modelpicker`."""
    return "\n".join(f"::: modelpicker.{name}\n" for name in names)
