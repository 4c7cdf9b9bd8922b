"""The command that repeats a pick whose decisions were written down."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from modelpicker.algorithms.registry import find_algorithm
from modelpicker.campaigns.pool_costs import PoolCosts
from modelpicker.collections.column_roles import options_of


def pick_command(header: Mapping[str, Any], models: Sequence[str]) -> str:
    """The command that gives the same pick; `header` is the first line of its result file."""
    pool = header.get("setting") == "pool"
    words = ["modelpicker", "pick", operand(str(header["collection"])), "--as", "pool" if pool else "stream"]
    words += ["--labels", str(header["labels_from"])] if header.get("labels_from") else []
    words += ["--judge", header["judge"]] if header.get("judge") else []
    words += ["--warm", header["warm_from"]] if header.get("warm_from") else []
    words += ["--seed", str(header["seed"])]
    words += [] if header.get("budget") is None else ["--budget", str(header["budget"])]
    words += ["--slice", header["slice"]] if header.get("slice") else []
    words += _pool_options(header["options"]) if pool else _stream_options(header)
    reading = dict(header.get("reading") or {})
    if header.get("judge"):  # which says that it is not a model
        reading["fields"] = [name for name in reading.get("fields", ()) if name != header["judge"]]
    return shlex.join([*words, *_reading_options(reading, models)])


def _pool_options(options: Mapping[str, Any]) -> list[str]:
    goal = [word for name in ("tolerance", "confidence") for word in (f"--{name}", str(options[name]))]
    return [*goal, *PoolCosts.load(options).typed()]


def _stream_options(header: Mapping[str, Any]) -> list[str]:
    """The algorithm, its options, and when to stop: of an algorithm that stops by itself, the goal is an option."""
    stops = find_algorithm(header["algorithm"]).stops
    words = ["--algorithm", header["algorithm"]]
    for name, value in header["options"].items():
        if value is not None and name != "price":  # which is among the costs
            own = stops and name in ("tolerance", "confidence")
            words += [f"--{name}", str(value)] if own else ["--option", f"{name}={value}"]
    words += PoolCosts.load(header.get("costs") or {}).typed()
    words += ["--missing", header["missing"]] if header.get("missing") else []
    told = header.get("told") or {}
    if header.get("stop_when"):
        words += ["--tolerance", str(header["stop_when"]["gap"])]
    if not stops and told:
        words += ["--confidence", str(told["confidence"]), "--kind", told["kind"]]
    return [*words, *(f"--{name.replace('_', '-')}" for name in ("shuffle", "play_unlabelled") if header.get(name))]


def _reading_options(reading: Mapping[str, Any], models: Sequence[str]) -> list[str]:
    """How a file was read, as it is typed."""
    plain = {name: value for name, value in reading.items() if name != "columns" and value}
    words: list[str] = []
    for name, value in {**plain, **options_of(reading.get("columns", {}), models)}.items():
        words.append(f"--{name}")
        if value is not True:
            words.append(",".join(map(str, value)) if isinstance(value, list) else str(value))
    return words


def operand(file: str) -> str:
    """A file as it is typed: one that looks like an option is named by its folder."""
    return f"./{file}" if file.startswith("-") else file
