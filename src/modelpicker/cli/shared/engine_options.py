"""Options that say who does large work: threads of this process, or the workers of a Dask cluster."""

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import typer


def one_of(*choices: str) -> Callable[[Any], Any]:
    """A check that an option is one of a few words, or was not given."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in choices:
            raise typer.BadParameter(f"{value} is not known; there are {' and '.join(choices)}.")
        return value

    return check


EngineOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=one_of("threads", "dask"),
        help="threads of this process, or the workers of a dask cluster.",
    ),
]
ScanEngine: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        callback=one_of("threads", "dask"),
        help="For files larger than memory: threads, or the workers of a dask cluster, scan them in parallel. Only "
        "the items on which models differ are kept. The pick is the same.",
        show_default=False,
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, help="How many threads or workers.  [default: one per core]", show_default=False),
]
Scheduler: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A running Dask scheduler; implies --engine dask.", show_default=False),
]
