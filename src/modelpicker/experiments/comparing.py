"""The paper's protocol on any collection: methods × budgets × realizations."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from modelpicker.algorithms import Algorithm
from modelpicker.algorithms.kernels import Ints
from modelpicker.algorithms.options import check_choice, check_count
from modelpicker.coins import check_seed
from modelpicker.collections import ModelCollection, load_collection
from modelpicker.collections.codes import ABSTAINED
from modelpicker.errors import InputError, brief
from modelpicker.experiments.engines import Engine, open_engine
from modelpicker.experiments.folder import Folder
from modelpicker.experiments.jobs import EVALUATION, TUNING, Cell, Job, Task
from modelpicker.experiments.ledger import Ledger
from modelpicker.experiments.levels import Outcomes
from modelpicker.experiments.methods import Method, as_methods
from modelpicker.experiments.metrics import tally_runs
from modelpicker.experiments.playing import GAP, QUERIES
from modelpicker.experiments.progress import Silent, Watcher, on_terminal
from modelpicker.experiments.realizations import Pool
from modelpicker.experiments.results import Results, metric_rows
from modelpicker.experiments.tuning import TOLERANCE, Probe, Tuned, Tuning, grid_search, search, untuned

BUDGET_RULES = ("expected", "hard")
TUNINGS = ("search", "grid")
# Rounds at which curves have a point, and realizations a task.
MARKS = 100
CHUNK = 10


def compare(
    collection: ModelCollection | str | os.PathLike[str],
    methods: Sequence[str | type[Algorithm] | Method] | None = None,
    budgets: Sequence[int] | None = None,
    stream_size: int | None = None,
    realizations: int = 500,
    seed: int = 0,
    *,
    budget_rule: Literal["expected", "hard"] = "expected",
    tuning: Literal["search", "grid"] = "search",
    engine: Literal["threads", "dask"] = "threads",
    workers: int | None = None,
    scheduler: str | None = None,
    chunk: int = CHUNK,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Results:
    """Run the paper's protocol: each method, tuned to each budget, on streams drawn from a collection with labels.

    Args:
        collection: with labels; or the name of one that ships, or a file. Items without a label are left out.
        methods: names, classes of algorithms, or `Method`s; by default the paper's six.
        budgets: numbers of labels; by default ten that suit the collection.
        stream_size: items that are drawn for a stream, without replacement; by default half of all.
        realizations: how many streams.
        seed: what all randomness is drawn from.
        budget_rule: "expected" tunes the mean number of labels to the budget, and a run may buy more;
            "hard" tunes likewise, and lets no run buy more than the budget.
        tuning: "search" finds hyperparameters on the streams themselves; "grid" is the paper's grid search.
        engine: "threads" of this process, or the workers of a "dask" cluster. The numbers are the same.
        workers: how many; by default one a core.
        scheduler: the address of a running Dask scheduler.
        chunk: realizations a task; it changes no number.
        out: a folder for everything that was run. A comparison that was interrupted goes on from there.
        progress: show a bar on standard error, if that is a terminal.

    >>> results = compare("digits", ["model-picker", "label-efficient"], [40], realizations=50, seed=1)
    >>> row = results.row("model-picker", 40)
    >>> round(row["queries"]), row["budget_rule"]
    (40, 'expected')
    """
    plan = make_plan(collection, methods, budgets, stream_size, realizations, seed, budget_rule, tuning)
    check_count("chunk", chunk)
    if workers is not None:
        check_count("workers", workers)
    with on_terminal() if progress else Silent() as watcher, _folder(out, plan) as folder:
        with open_engine(engine, plan.job, workers, scheduler) as opened:
            return Comparison(plan, folder, opened, chunk, watcher).run()


@dataclass(frozen=True)
class Plan:
    """What is to be compared, checked and complete: two equal plans give equal results."""

    job: Job
    budgets: tuple[int, ...]
    realizations: int
    budget_rule: str
    tuning: str
    expected: float
    """Rounds of a stream on which models disagree, on average."""
    facts: Mapping[str, Any]
    """The collection: name, fingerprint, size."""
    accuracies: tuple[float, ...]
    values: Mapping[str, Mapping[int, Tuned]] | None = None
    """Hyperparameters by method and budget, where they are known from another comparison."""

    def identity(self) -> dict[str, Any]:
        """Everything that decides the numbers."""
        return {
            "collection": dict(self.facts),
            "methods": [method.describe() for method in self.job.methods],
            "budgets": list(self.budgets),
            "stream_size": self.job.stream_size,
            "realizations": self.realizations,
            "seed": self.job.seed,
            "budget_rule": self.budget_rule,
            "tuning": "given" if self.values is not None else self.tuning,
        }


def make_plan(
    collection: ModelCollection | str | os.PathLike[str],
    methods: Sequence[str | type[Algorithm] | Method] | None = None,
    budgets: Sequence[int] | None = None,
    stream_size: int | None = None,
    realizations: int = 500,
    seed: int = 0,
    budget_rule: str = "expected",
    tuning: str = "search",
    name: str | None = None,
) -> Plan:
    """Check everything that can be checked before the first run."""
    check_choice("budget_rule", budget_rule, BUDGET_RULES)
    check_choice("tuning", tuning, TUNINGS)
    if not isinstance(collection, ModelCollection):
        name = name or Path(collection).stem
        collection = load_collection(collection)
    pool = _pool(collection)
    size = _check_size(stream_size, len(pool.labels))
    divided = (pool.predictions != pool.predictions[:, :1]).any(axis=1).mean()
    if divided == 0.0:
        raise InputError("the models agree on every labelled item, so no label can tell them apart.")
    job = Job(
        pool=pool,
        methods=as_methods(methods),
        classes=len(collection.classes),
        stream_size=size,
        seed=check_seed(seed),
        marks=_marks(size),
    )
    expected = float(divided * size)
    facts = {
        "name": name,
        "fingerprint": collection.fingerprint,
        "items": len(pool.labels),
        "models": len(collection.models),
        "classes": len(collection.classes),
    }
    return Plan(
        job=job,
        budgets=_check_budgets(budgets, size, expected),
        realizations=check_count("realizations", realizations),
        budget_rule=budget_rule,
        tuning=tuning,
        expected=expected,
        facts=facts,
        accuracies=tuple(np.asarray(collection.accuracies).tolist()),
    )


def _pool(collection: ModelCollection) -> Pool:
    """The items that have labels."""
    if collection.labels is None:
        raise InputError("the collection has no labels to judge methods by; add them with with_labels(...) or --labels.")
    if len(collection.models) < 2:
        raise InputError("there is one model only; to compare ways of choosing, there must be two to choose from.")
    known = collection.labels != ABSTAINED
    predictions = collection.predictions if known.all() else collection.predictions[known]
    return Pool(predictions, collection.labels[known].astype(np.int32))


def _check_size(stream_size: int | None, items: int) -> int:
    size = max(1, items // 2) if stream_size is None else check_count("stream_size", stream_size)
    if size > items:
        raise InputError(
            f"stream_size={size:,}, but only {items:,} items have labels; streams are drawn without replacement."
        )
    return size


def _check_budgets(budgets: Sequence[int] | None, size: int, expected: float) -> tuple[int, ...]:
    if budgets is None:
        return usual_budgets(expected)
    if isinstance(budgets, str | int) or not hasattr(budgets, "__iter__"):
        raise InputError(f"budgets {brief(budgets)}: pass a list of numbers of labels, such as [50, 100, 200].")
    checked = [check_count("budget", budget) for budget in budgets]
    if not checked:
        raise InputError("no budgets; pass numbers of labels, such as [50, 100, 200].")
    for place, budget in enumerate(checked):
        if budget > size:
            raise InputError(f"budget {budget:,} is more than the {size:,} items of a stream.")
        if budget in checked[:place]:
            raise InputError(f"budget {budget:,} is given twice.")
    return tuple(checked)


def usual_budgets(expected: float) -> tuple[int, ...]:
    """Ten budgets, from few labels to half of the rounds on which models disagree, evenly spaced in the log."""
    highest = max(1.0, expected / 2.0)
    raw = np.geomspace(min(highest, max(5.0, highest / 50.0)), highest, 10)
    digits = np.maximum(0, np.floor(np.log10(raw)) - 1)
    return tuple(dict.fromkeys(int(round(value / 10**d) * 10**d) for value, d in zip(raw, digits, strict=True)))


def _marks(size: int) -> Ints:
    """Rounds from the first to the last, evenly spaced."""
    return np.unique(np.ceil(np.linspace(0, size, MARKS + 1)[1:]).astype(np.int64))


@contextmanager
def _folder(out: str | os.PathLike[str] | None, plan: Plan) -> Iterator[Folder]:
    """The folder that runs are written to; without one, a place that is gone afterwards."""
    if out is not None:
        with Folder.open(Path(out), plan.identity()) as folder:
            yield folder
        return
    with tempfile.TemporaryDirectory(prefix="modelpicker-") as place, Folder.open(Path(place), plan.identity()) as folder:
        yield folder


class Comparison:
    """A plan being carried out."""

    def __init__(self, plan: Plan, folder: Folder, engine: Engine, chunk: int, watcher: Watcher) -> None:
        self.plan = plan
        self.engine = engine
        self.chunk = chunk
        self.watcher = watcher
        self.folder = folder
        self.ledger = Ledger(folder.runs, plan.realizations)

    def run(self) -> Results:
        """Tune, play, and sum up."""
        try:
            tuned = self._tune()
            cells = self._cells(tuned)
            self.watcher.stage("evaluating")
            self._play([(cell, self.plan.realizations) for cell in dict.fromkeys(cells.values())])
        finally:
            self.ledger.write()
        results = self._sum_up(tuned, cells)
        results.save(self.folder.path)
        return results

    def _tune(self) -> dict[str, Mapping[int, Tuned]]:
        """A value for every method and budget; the searches of all methods go on side by side."""
        if self.plan.values is not None:
            return {method.label: self.plan.values[method.label] for method in self.plan.job.methods}
        self.watcher.stage("tuning")
        found: dict[str, Mapping[int, Tuned]] = {}
        going: dict[str, tuple[Tuning, list[Probe]]] = {}

        def ask(label: str, tuning: Tuning, answers: list[Ints] | None) -> None:
            try:
                going[label] = tuning, tuning.send(answers) if answers is not None else next(tuning)
            except StopIteration as stop:
                going.pop(label, None)
                found[label] = stop.value

        for method in self.plan.job.methods:
            ask(method.label, self._tuning(method), None)
        while going:
            wanted = {label: [self._probed(label, probe) for probe in probes] for label, (_, probes) in going.items()}
            self._play([entry for entries in wanted.values() for entry in entries])
            for label, (tuning, _) in list(going.items()):
                ask(label, tuning, [self.ledger.asked(cell, count) for cell, count in wanted[label]])
        return {method.label: found[method.label] for method in self.plan.job.methods}

    def _tuning(self, method: Method) -> Tuning:
        plan = self.plan
        if method.fixed is not None:
            return untuned(method, plan.budgets)
        if plan.tuning == "grid":
            return grid_search(method, plan.budgets, plan.expected)
        return search(method, plan.budgets, plan.realizations, plan.expected)

    def _probed(self, label: str, probe: Probe) -> tuple[Cell, int]:
        """The cell that answers a probe, and on how many streams."""
        streams = TUNING if self.plan.tuning == "grid" else EVALUATION
        return Cell(label, probe.value, self._most(probe.most), streams), probe.realizations

    def _most(self, budget: int | None) -> int:
        """How many labels a run may buy."""
        size = self.plan.job.stream_size
        return min(size, budget) if self.plan.budget_rule == "hard" and budget is not None else size

    def _cells(self, tuned: Mapping[str, Mapping[int, Tuned]]) -> dict[tuple[str, int], Cell]:
        return {
            (label, budget): Cell(label, values[budget].value, self._most(budget))
            for label, values in tuned.items()
            for budget in self.plan.budgets
        }

    def _play(self, wanted: Sequence[tuple[Cell, int]]) -> None:
        """Play what has not been played yet."""
        tasks = list(self._tasks(wanted))
        self.watcher.expect(sum(task.runs for task in tasks))
        for task, block in self.engine.run(tasks):
            self.ledger.add(task, block)
            self.watcher.advance(task.runs, self._standing)

    def _tasks(self, wanted: Sequence[tuple[Cell, int]]) -> Iterator[Task]:
        """Chunks of realizations, each with the cells that have not been played on all of them."""
        gaps: dict[tuple[str, int, int], list[Cell]] = {}
        for cell, realizations in dict.fromkeys(wanted):
            for number in self.ledger.missing(cell, realizations).tolist():
                gaps.setdefault((cell.streams, number, 0), []).append(cell)
        chunks: dict[tuple[str, int, tuple[Cell, ...]], list[int]] = {}
        for (streams, number, _), cells in sorted(gaps.items(), key=lambda entry: entry[0][:2]):
            chunks.setdefault((streams, number // self.chunk, tuple(cells)), []).append(number)
        for (_, _, cells), numbers in chunks.items():
            for run in np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1):
                yield Task(cells, int(run[0]), int(run[-1]) + 1)

    def _standing(self) -> str:
        """Who finds the best model most often so far."""
        best: dict[str, float] = {}
        for cell, finals in self.ledger.finals.items():
            played = finals[finals[:, QUERIES] >= 0]
            if cell.streams == EVALUATION and len(played) >= self.plan.realizations // 2:
                best[cell.method] = max(best.get(cell.method, 0.0), float((played[:, GAP] == 0).mean()))
        ranked = sorted(best.items(), key=lambda entry: -entry[1])[:2]
        return ", ".join(f"{label} {share:.0%}" for label, share in ranked)

    def _sum_up(self, tuned: Mapping[str, Mapping[int, Tuned]], cells: Mapping[tuple[str, int], Cell]) -> Results:
        """Metrics of every method at every budget."""
        plan, marks, runs = self.plan, self.plan.job.marks, self.plan.realizations
        kinds = list(dict.fromkeys(cells.values()))
        self.watcher.stage("summing up")
        tallies = tally_runs(kinds, self.ledger.records(kinds), len(marks), runs)
        curves = {key: tallies[cell].metrics(plan.job.stream_size) for key, cell in cells.items()}
        rows = []
        for (label, budget), cell in cells.items():
            asked = float(self.ledger.asked(cell, runs).mean())
            landed = abs(asked - budget) <= TOLERANCE * budget
            rows.append(
                {
                    "method": label,
                    "budget": budget,
                    "budget_rule": plan.budget_rule,
                    "value": cell.value,
                    "asked": asked,
                    "mark": "" if landed else tuned[label][budget].mark or "nearest",
                    **metric_rows(curves[label, budget]),
                }
            )
        return Results(
            settings={**plan.identity(), **self.folder.made_with(), "tuning_runs": self._tuning_runs(kinds)},
            rows=rows,
            rounds=marks,
            curves=curves,
            outcomes=self._outcomes(cells),
        )

    def _tuning_runs(self, kinds: Sequence[Cell]) -> dict[str, int]:
        """Runs of each method that serve no evaluation."""
        counts = dict.fromkeys((method.label for method in self.plan.job.methods), 0)
        for cell, finals in self.ledger.finals.items():
            if cell not in kinds:
                counts[cell.method] += int((finals[:, QUERIES] >= 0).sum())
        return counts

    def _outcomes(self, cells: Mapping[tuple[str, int], Cell]) -> dict[str, Outcomes]:
        runs, labels = self.plan.realizations, [method.label for method in self.plan.job.methods]
        found = {}
        for label in labels:
            finals = np.stack([self.ledger.finals[cells[label, b]][:runs] for b in self.plan.budgets], axis=1)
            found[label] = Outcomes(finals[:, :, QUERIES], finals[:, :, GAP] == 0)
        return found


Progress = Callable[[str], None]
