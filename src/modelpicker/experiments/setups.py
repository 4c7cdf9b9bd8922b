"""The paper's five set-ups, read from `setups.toml`, on the authors' collections or on what stands in for them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from modelpicker.collections import ModelCollection, load_collection
from modelpicker.collections.presets import preset_collection
from modelpicker.errors import InputError, NotFoundError, brief
from modelpicker.experiments.methods import METHODS, Method
from modelpicker.experiments.plan import ComparisonPlan, plan_comparison


@dataclass(frozen=True)
class Claim:
    """A statement of the paper about Model Picker."""

    kind: str  # "factor", "gap" or "gap_p90"
    paper: float  # the paper's number: of times, or of labels
    where: str
    level: float = 0.0
    gap: float = 0.0


@dataclass(frozen=True)
class Setup:
    """One of the paper's experiments."""

    name: str
    title: str
    stand_in: str
    stream_size: int
    realizations: int
    budgets: tuple[int, ...]
    regret_budget: int
    methods: tuple[Method, ...]
    claims: tuple[Claim, ...]

    def plan(
        self, data: Path | None, realizations: int | None, seed: int, budget_rule: str, tuning: str
    ) -> tuple[ComparisonPlan, str | None]:
        """The set-up as a plan, on the best collection at hand; and why it is not the authors', if it is not."""
        collection, why = self.collection(data)
        stand_in = f"synthetic {self.stand_in}, with the recorded accuracies" if why else None
        plan = plan_comparison(
            collection,
            self.methods,
            self.budgets,
            self.stream_size,
            self.realizations if realizations is None else realizations,
            seed,
            budget_rule,
            tuning,
            name=self.name,
            stand_in=stand_in,
        )
        return plan, None if why is None else f"{stand_in}: {why}"

    def collection(self, data: Path | None) -> tuple[ModelCollection, str | None]:
        """The authors' collection, or the one that stands in for it and why."""
        folder = None if data is None else data / self.name
        if folder is not None and (folder / "predictions.npy").exists():
            found = load_collection(folder)
            if found.labels is None:
                raise InputError(f"{folder} has predictions but no labels (oracle.npy); the comparison needs both.")
            return found, None
        why = "no --data was given" if folder is None else f"{folder} has no predictions.npy"
        return preset_collection(self.stand_in), why


@cache
def read_setups() -> Mapping[str, Setup]:
    """All set-ups, by name."""
    text = (resources.files("modelpicker.experiments") / "setups.toml").read_text("utf-8")
    return {name: _setup(name, entry) for name, entry in tomllib.loads(text).items()}


def find_setups(name: str) -> list[Setup]:
    """The set-up of this name, or all of them."""
    setups = read_setups()
    if name == "all":
        return list(setups.values())
    if name not in setups:
        raise NotFoundError(f"there is no set-up {brief(name)}; there are {', '.join(setups)}, and all.")
    return [setups[name]]


def _setup(name: str, entry: dict[str, Any]) -> Setup:
    options, grids = entry.pop("options", {}), entry.pop("grid", {})
    methods = tuple(_method(method, options.get(method, {}), grids.get(method)) for method in entry.pop("methods"))
    claims = tuple(Claim(**claim) for claim in entry.pop("claims", []))
    return Setup(name=name, methods=methods, claims=claims, budgets=tuple(entry.pop("budgets")), **entry)


def _method(name: str, options: dict[str, Any], grid: list[float] | None) -> Method:
    method = METHODS[name].with_options(options)
    return method if grid is None else replace(method, grid=(grid[0], grid[1]))
