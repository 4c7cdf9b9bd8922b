"""What came of a comparison: tables of metrics, curves by round, and what is needed to judge them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from modelpicker.collections.writers import replacing
from modelpicker.errors import InputError, brief
from modelpicker.experiments.labels_needed import Factor, Outcomes, factor, labels_needed, without_infinities
from modelpicker.experiments.metrics import metrics_of
from modelpicker.frames import Backend, columns_of, make_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OWN_METHODS = {"stream": "model-picker", "pool": "pool-picker"}


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """Metrics of every method at every budget.

    `settings` says what was compared and how: collection, seed, streams, budget rule, tuning, versions.
    `rows` has a dictionary a (method, budget), `curves` a list of values a metric, by round, for each of them.

    >>> import modelpicker as mp
    >>> methods = ["model-picker", "label-efficient"]
    >>> results = mp.compare("digits", methods=methods, budgets=[50, 100], realizations=10, stream_size=300)
    >>> results.methods, results.budgets
    (['model-picker', 'label-efficient'], [50, 100])
    """

    settings: dict[str, Any]
    accuracies: npt.NDArray[np.float64]
    """Of the models, on all labelled items."""
    rows: list[dict[str, Any]]
    rounds: npt.NDArray[np.int64]
    curves: dict[tuple[str, int], dict[str, npt.NDArray[np.float64]]]
    outcomes: dict[str, Outcomes]
    """Labels bought and gaps, by method: one row per realization, one column per budget."""

    def __repr__(self) -> str:
        named = self.settings["collection"]["name"] or self.settings["collection"]["fingerprint"]
        return (
            f"<Results: {named}, {len(self.methods)} methods, {len(self.budgets)} budgets, "
            f"{self.settings['realizations']} realizations, budget rule {self.settings['budget_rule']}>"
        )

    @property
    def methods(self) -> list[str]:
        """The labels of the methods."""
        return list(self.outcomes)

    @property
    def budgets(self) -> list[int]:
        """The budgets, as given."""
        return list(self.settings["budgets"])

    @property
    def setting(self) -> str:
        """What was played: "stream" or "pool"."""
        return str(self.settings["setting"])

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that mean something in this setting: on pools there is no regret."""
        return metrics_of(self.setting)

    @property
    def own_method(self) -> str:
        """The method of ours for this setting."""
        return OWN_METHODS[self.setting]

    def row(self, method: str, budget: int) -> dict[str, Any]:
        """The metrics of one method at one budget.

        >>> import modelpicker as mp
        >>> methods = ["model-picker", "label-efficient"]
        >>> results = mp.compare("digits", methods=methods, budgets=[50, 100], realizations=10, stream_size=300)
        >>> results.row("model-picker", 50)["budget"]
        50
        """
        if (method, budget) not in self._places:
            raise InputError(
                f"there is no row of {brief(method)} at {brief(budget)}; methods are {', '.join(self.methods)}, "
                f"budgets {', '.join(map(str, self.budgets))}."
            )
        return self.rows[self._places[method, budget]]

    @cached_property
    def _places(self) -> dict[tuple[str, int], int]:
        return {(row["method"], row["budget"]): place for place, row in enumerate(self.rows)}

    def to_frame(self, backend: Backend | None = None) -> Any:
        """A row a (method, budget) with all metrics and their standard errors.

        A data frame of "pandas", "polars" or "pyarrow": by default of pandas if it is installed, else of PyArrow.

        >>> import modelpicker as mp
        >>> methods = ["model-picker", "label-efficient"]
        >>> results = mp.compare("digits", methods=methods, budgets=[50, 100], realizations=10, stream_size=300)
        >>> results.to_frame("pyarrow").num_rows
        4
        """
        return make_frame(columns_of(self.rows), backend)

    def plot(self) -> "Figure":
        """Identification probability and accuracy gap of every method, by budget: a figure of matplotlib.

        >>> import modelpicker as mp
        >>> methods = ["model-picker", "label-efficient"]
        >>> results = mp.compare("digits", methods=methods, budgets=[50, 100], realizations=10, stream_size=300)
        >>> len(results.plot().axes) > 0
        True
        """
        from modelpicker.extras import require

        require("figures")
        from modelpicker.experiments.figures import caption, method_keys, plot_by_budget
        from modelpicker.pictures import Picture

        figure = Picture(figsize=(10, 4), layout="constrained", facecolor="white")
        left, right = figure.subplots(1, 2)
        plot_by_budget(left, self, "identification_probability")
        plot_by_budget(right, self, "accuracy_gap")
        figure.legend(handles=method_keys(self.methods), loc="outside lower center", ncols=3, frameon=False)
        figure.suptitle(caption(self), fontsize=9, wrap=True, parse_math=False)
        return figure

    def _repr_html_(self) -> str:
        from modelpicker.experiments.results_card import results_card

        return results_card(self)

    def curves_to_frame(self, backend: Backend | None = None) -> Any:
        """A row a (method, budget, round) with all metrics and their standard errors.

        >>> import modelpicker as mp
        >>> methods = ["model-picker", "label-efficient"]
        >>> results = mp.compare("digits", methods=methods, budgets=[50, 100], realizations=10, stream_size=300)
        >>> results.curves_to_frame("pyarrow").column_names[:3]
        ['method', 'budget', 'budget_rule']
        """
        return make_frame(columns_of(self._curve_rows()), backend)

    def _curve_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "method": method,
                "budget": budget,
                "budget_rule": self.settings["budget_rule"],
                "stand_in": self.settings["collection"]["stand_in"],
                "mark": self.row(method, budget)["mark"],
                "round": int(number),
                **{name: float(values[place]) for name, values in curve.items()},
            }
            for (method, budget), curve in self.curves.items()
            for place, number in enumerate(self.rounds)
        ]

    def labels_needed(self, level: float) -> dict[str, float]:
        """The labels that each method needs for an identification probability; infinite if it never gets there.

        >>> import modelpicker as mp
        >>> methods = ["model-picker", "label-efficient"]
        >>> results = mp.compare("digits", methods=methods, budgets=[50, 100], realizations=10, stream_size=300)
        >>> sorted(results.labels_needed(0.5))
        ['label-efficient', 'model-picker']
        """
        check_level(level)
        return {
            name: labels_needed(found.labels.mean(axis=0), found.hits.mean(axis=0), level)
            for name, found in self.outcomes.items()
        }

    def factor(self, level: float, method: str | None = None, rivals: Sequence[str] | None = None) -> Factor:
        """How many times fewer labels than its best rival a method needs for an identification probability.

        By default the method is model-picker, or pool-picker on pools.

        >>> import modelpicker as mp
        >>> methods = ["model-picker", "label-efficient"]
        >>> results = mp.compare("digits", methods=methods, budgets=[50, 100], realizations=10, stream_size=300)
        >>> results.factor(0.5).level
        0.5
        """
        check_level(level)
        method = self.own_method if method is None else method
        chosen = [method, *(self.methods if rivals is None else rivals)]
        for name in chosen:
            if name not in self.outcomes:
                raise InputError(f"{brief(name)} was not compared; methods are {', '.join(self.methods)}.")
        return factor(
            {name: self.outcomes[name] for name in dict.fromkeys(chosen)}, method, level, self.settings["seed"]
        )

    def document(self) -> dict[str, Any]:
        """Everything but the curves, as JSON can hold it.

        >>> import modelpicker as mp
        >>> methods = ["model-picker", "label-efficient"]
        >>> results = mp.compare("digits", methods=methods, budgets=[50, 100], realizations=10, stream_size=300)
        >>> "rows" in results.document()
        True
        """
        return {**self.settings, "rows": [without_infinities(row) for row in self.rows]}

    def save(self, folder: Path) -> None:
        """Write tables that other programs can read: results as CSV and JSON, curves as Parquet.

        >>> import tempfile
        >>> from pathlib import Path
        >>> import modelpicker as mp
        >>> methods = ["model-picker", "label-efficient"]
        >>> results = mp.compare("digits", methods=methods, budgets=[50, 100], realizations=10, stream_size=300)
        >>> folder = Path(tempfile.mkdtemp())
        >>> results.save(folder)
        >>> sorted(path.suffix for path in folder.iterdir())[0]
        '.csv'
        """
        import pyarrow as pa
        from pyarrow import csv, parquet

        with replacing(folder / "results.csv") as path:
            csv.write_csv(pa.Table.from_pylist(self.rows), path)
        with replacing(folder / "curves.parquet") as path:
            parquet.write_table(pa.Table.from_pylist(self._curve_rows()), path, compression="zstd")
        with replacing(folder / "results.json") as path:
            path.write_text(json.dumps(self.document(), indent=1, ensure_ascii=False), encoding="utf-8")


def check_level(level: object) -> None:
    """A probability that is worth reaching."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.0 < level <= 1.0:
        raise InputError(
            f"level {brief(level)} is not a probability; pass a number above 0 and at most 1, such as 0.9."
        )
