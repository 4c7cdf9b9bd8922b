"""Extras: what a plain `pip install modelpicker` leaves out."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from modelpicker.errors import MissingExtraError

PURPOSES: Mapping[str, str] = MappingProxyType(
    {
        "client": "The client",
        "dask": "The engine 'dask'",
        "figures": "Drawing figures",
        "pandas": "A pandas data frame",
        "postgresql": "PostgreSQL",
        "server": "The server",
    }
)
"""The extras, and what each is for."""


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Import what comes with an extra: if something is missing, the error names the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "modelpicker"):  # no extra would help
            raise
        raise MissingExtraError(
            f"{PURPOSES[extra]} needs the package {missing}, which is not installed. "
            f'Install it: pip install "modelpicker[{extra}]"',
            extra=extra,
        ) from error
