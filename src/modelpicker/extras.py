"""Libraries: extras that a plain `pip install modelpicker` leaves out, and versions that were tested."""

import importlib
from importlib.metadata import version
from types import MappingProxyType
from typing import NamedTuple

from modelpicker.errors import MissingExtraError, UntestedVersionError


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
        "datasets": Extra("Hugging Face datasets", ("datasets",)),
        "excel": Extra("reading a sheet of Excel", ("openpyxl",)),
        "figures": Extra("drawing figures", ("matplotlib",)),
        "mlflow": Extra("MLflow", ("mlflow",)),
        "notebook": Extra("labelling in a notebook", ("anywidget", "traitlets")),
        "postgresql": Extra("PostgreSQL", ("psycopg",)),
        "server": Extra(
            "the server", ("fastapi", "httptools", "prometheus_client", "pydantic", "starlette", "uvicorn")
        ),
        "sklearn": Extra("the estimator for scikit-learn", ("sklearn",)),
        "spark": Extra("Structured Streaming", ("pyspark",)),
    }
)

TESTED = MappingProxyType({"numba": "0.68", "uvicorn": "0.54"})
"""Libraries whose internals are used, and the version of each that was tested."""


def check_tested(library: str) -> None:
    """Refuse a version of a library whose internals may have changed: what went wrong then would be obscure."""
    wanted, found = TESTED[library], version(library)
    if found.split(".")[:2] != wanted.split("."):
        raise UntestedVersionError(
            f"this modelpicker uses internals of {library} {wanted}, and {library} {found} is installed: "
            f'pip install "{library}=={wanted}.*", or install a newer modelpicker.'
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
        if module in TESTED:
            check_tested(module)
