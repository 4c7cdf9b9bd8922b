"""Extras: what a plain `pip install modelpicker` leaves out."""

import importlib
from types import MappingProxyType
from typing import NamedTuple

from modelpicker.errors import MissingExtraError


class Extra(NamedTuple):
    """Something that can be installed on top."""

    purpose: str
    """What needs it, as an error says it."""
    modules: tuple[str, ...]
    """What is imported of it."""


EXTRAS = MappingProxyType(
    {
        "client": Extra("the client", ("httpx2",)),
        "dask": Extra("engine 'dask'", ("distributed",)),
        "figures": Extra("drawing figures", ("matplotlib", "plotly")),
        "postgresql": Extra("PostgreSQL", ("psycopg",)),
        "server": Extra(
            "the server", ("fastapi", "httptools", "prometheus_client", "pydantic", "starlette", "uvicorn")
        ),
    }
)


def require(extra: str) -> None:
    """Import the modules of an extra; if one is missing, the error names the command that installs it."""
    purpose, modules = EXTRAS[extra]
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            missing = isinstance(error, ModuleNotFoundError)
            why = "which is not installed" if missing else f"which cannot be imported ({error})"
            raise MissingExtraError(
                f'{purpose} needs {module}, {why}: pip install "modelpicker[{extra}]"', extra=extra
            ) from error
