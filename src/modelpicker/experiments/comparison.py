"""The paper's protocol on any collection: methods × budgets × realizations."""

import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Literal

import numpy as np

from modelpicker.algorithms.validation import check_count
from modelpicker.experiments.engines import CHUNK, Engine, EngineName, Workforce, open_engine
from modelpicker.experiments.labels_needed import Outcomes
from modelpicker.experiments.metrics import at_the_end, meaningful, tally_runs
from modelpicker.experiments.output_folder import Folder, versions
from modelpicker.experiments.plan import ComparisonPlan, middle_budget, plan_comparison
from modelpicker.experiments.playing import GAP, QUERIES
from modelpicker.experiments.pool_methods import AnyMethod, MethodChoice, PoolMethod
from modelpicker.experiments.progress import Silent, Watcher, on_terminal
from modelpicker.experiments.results import Results
from modelpicker.experiments.run_store import Ledger
from modelpicker.experiments.tasks import EVALUATION, TUNING, Block, ComparisonCell, Task
from modelpicker.experiments.tuning import TOLERANCE, Probe, Tuned, Tuning, grid_search, search, untuned
from modelpicker.kernels.primitives import Ints

# Predictions that a task looks at, at most: about a second of work.
WORK = 2.5e8
# How near the labels of a run must be to a budget, to count for the standing there while work continues.
CLOSE = 0.2


def compare(
    collection: object,
    methods: Sequence[MethodChoice] | None = None,
    budgets: Sequence[int] | None = None,
    stream_size: int | None = None,
    realizations: int = 500,
    seed: int = 0,
    *,
    setting: Literal["stream", "pool"] = "stream",
    budget_rule: Literal["expected", "hard"] = "expected",
    tuning: Literal["search", "grid"] = "search",
    engine: EngineName = "threads",
    workers: int | None = None,
    scheduler: str | None = None,
    chunk: int = CHUNK,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Results:
    """Run the paper's protocol: each method, tuned to each budget, on streams drawn from a collection with labels.

    With setting="pool", files are drawn instead of streams, and a method may ask about any item of a file.

    Args:
        collection: with labels; or the name of one that ships, a file, or a data frame. Items without a label are
            left out.
        methods: names, classes of algorithms, or `Method`s; by default the paper's six and Race. On pools:
            pool-picker, model-selector, coda (2 to 20 classes), race and label-efficient.
        budgets: numbers of labels; by default ten that suit the collection.
        stream_size: items that are drawn for a stream or a file, without replacement; by default half of all.
        realizations: how many streams or files.
        seed: what all randomness is drawn from.
        setting: "stream" plays the items in order, as in the paper; "pool" lets methods choose among all items.
        budget_rule: "expected" tunes the mean number of labels to the budget, and a run may buy more;
            "hard" tunes likewise, and lets no run buy more than the budget. On pools it concerns Race only:
            the other methods are not tuned, and buy no more than the budget.
        tuning: "search" finds hyperparameters on the streams themselves; "grid" is the paper's grid search.
        engine: "threads" of this process, or the workers of a "dask" cluster. The numbers are the same.
        workers: how many; by default one per core.
        scheduler: the address of a running Dask scheduler.
        chunk: realizations a task; it changes no number.
        out: a folder for everything that was run. A comparison that was interrupted continues from there.
        progress: show a bar on standard error, if that is a terminal.

    >>> results = compare("digits", ["model-picker", "label-efficient"], [100], realizations=50, seed=1)
    >>> row = results.row("model-picker", 100)
    >>> 98 <= row["queries"] <= 102, row["budget_rule"]
    (True, 'expected')
    """
    plan = plan_comparison(
        collection, methods, budgets, stream_size, realizations, seed, budget_rule, tuning, setting
    )
    how = Workforce(engine, workers, scheduler, chunk)
    return carry_out(plan, how, None if out is None else Path(out), progress=progress)


def carry_out(
    plan: ComparisonPlan, how: Workforce, out: Path | None = None, *, title: str = "", progress: bool = False
) -> Results:
    """Carry out a plan; what was run before, in the same folder, is not run again."""
    check_count("chunk", how.chunk)
    if how.workers is not None:
        check_count("workers", how.workers)
    with (
        on_terminal(title) if progress else nullcontext(Silent()) as watcher,
        _folder(out, plan) as folder,
        open_engine(how.engine, plan.job, how.workers, how.scheduler) as engine,
    ):
        return Comparison(plan, folder, engine, how.chunk, watcher).run()


@contextmanager
def _folder(out: str | os.PathLike[str] | None, plan: ComparisonPlan) -> Iterator[Folder]:
    """The folder that runs are written to; without one, a place that is gone afterwards."""
    if out is not None:
        with Folder.open(Path(out), plan.identity()) as folder:
            yield folder
        return
    with (
        tempfile.TemporaryDirectory(prefix="modelpicker-") as place,
        Folder.open(Path(place), plan.identity()) as folder,
    ):
        yield folder


class Comparison:
    """A plan being carried out."""

    def __init__(
        self, plan: ComparisonPlan, folder: Folder, engine: Engine[Task, Block], chunk: int, watcher: Watcher
    ) -> None:
        self.plan = plan
        self.engine = engine
        self.chunk = chunk
        self.watcher = watcher
        self.folder = folder
        self.ledger = Ledger(folder.runs, plan.realizations)

    def run(self) -> Results:
        """Tune, play, and sum up."""
        plan = self.plan
        known = sum(int((finals[:, QUERIES] >= 0).sum()) for finals in self.ledger.finals.values())
        self.watcher.start(known, len(plan.job.methods) * len(plan.budgets) * plan.realizations)
        try:
            tuned = self._tune()
            cells = self._cells(tuned)
            self.watcher.stage("evaluating")
            self._play([(cell, range(self.plan.realizations)) for cell in cells.values()])
        finally:
            self.ledger.write()
        results = self._sum_up(tuned, cells)
        results.save(self.folder.path)
        return results

    def _tune(self) -> dict[str, Mapping[int, Tuned]]:
        """A value for every method and budget; the searches of all methods continue side by side."""
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
            wanted = {
                label: [self._probed(label, probe) for probe in probes] for label, (_, probes) in going.items()
            }
            self._play([entry for entries in wanted.values() for entry in entries])
            for label, (tuning, _) in list(going.items()):
                ask(label, tuning, [self.ledger.asked(cell, numbers) for cell, numbers in wanted[label]])
        return {method.label: found[method.label] for method in self.plan.job.methods}

    def _tuning(self, method: AnyMethod) -> Tuning:
        plan = self.plan
        if isinstance(method, PoolMethod):
            return untuned(0.0, plan.budgets, "done")
        if method.fixed is not None:
            return untuned(method.fixed, plan.budgets)
        if plan.tuning == "grid":
            return grid_search(method, plan.budgets, plan.expected)
        return search(method, plan.budgets, plan.realizations, plan.expected)

    def _probed(self, label: str, probe: Probe) -> tuple[ComparisonCell, Sequence[int]]:
        """The cell that answers a probe, and on which streams."""
        streams = TUNING if self.plan.tuning == "grid" else EVALUATION
        return ComparisonCell(label, probe.value, self._most(probe.most), streams), probe.streams

    def _most(self, budget: int | None) -> int:
        """How many labels a run may buy."""
        size = self.plan.job.stream_size
        return min(size, budget) if self.plan.budget_rule == "hard" and budget is not None else size

    def _cells(self, tuned: Mapping[str, Mapping[int, Tuned]]) -> dict[tuple[str, int], ComparisonCell]:
        return {
            (label, budget): ComparisonCell(
                label, values[budget].value, budget if label in self.plan.untuned else self._most(budget)
            )
            for label, values in tuned.items()
            for budget in self.plan.budgets
        }

    def _play(self, wanted: Sequence[tuple[ComparisonCell, Sequence[int]]]) -> None:
        """Play what has not been played yet."""
        tasks = list(self._tasks(wanted))
        self.watcher.expect(sum(task.runs for task in tasks))
        for task, block in self.engine.run(tasks):
            self.ledger.add(task, block)
            self.watcher.advance(task.runs, self._standing)

    def _tasks(self, wanted: Sequence[tuple[ComparisonCell, Sequence[int]]]) -> Iterator[Task]:
        """Chunks of realizations, each with the cells that have not been played on them."""
        missing: dict[tuple[str, int], dict[ComparisonCell, None]] = {}
        for cell, numbers in wanted:
            for number in self.ledger.missing(cell, numbers):
                missing.setdefault((cell.streams, number), {})[cell] = None
        chunk = 1 if self.plan.setting == "pool" else self.chunk  # a file takes as long as many streams
        chunks: dict[tuple[str, int, tuple[ComparisonCell, ...]], list[int]] = {}
        for (streams, number), cells in sorted(missing.items(), key=lambda entry: entry[0]):
            chunks.setdefault((streams, number // chunk, tuple(cells)), []).append(number)
        for (_, _, together), numbers in chunks.items():
            most = max(
                1, int(WORK / (len(numbers) * self.plan.job.pool.predictions.shape[1] * self.plan.job.stream_size))
            )
            for start in range(0, len(together), most):
                yield Task(together[start : start + most], tuple(numbers))

    def _standing(self) -> str:
        """Who finds the best model most often, among the runs with about as many labels as the middle budget."""
        middle = middle_budget(self.plan.budgets)
        nearest: dict[str, tuple[float, float]] = {}
        for cell, finals in self.ledger.finals.items():
            played = finals[finals[:, QUERIES] >= 0]
            off = abs(float(played[:, QUERIES].mean()) - middle) / middle
            if cell.streams == EVALUATION and off < nearest.get(cell.method, (CLOSE, 0.0))[0]:
                nearest[cell.method] = off, float((played[:, GAP] == 0).mean())
        ranked = sorted(nearest.items(), key=lambda entry: -entry[1][1])
        if not ranked:
            return ""
        return f"at {middle:,} labels: " + ", ".join(f"{label} {share:.0%}" for label, (_, share) in ranked)

    def _sum_up(
        self, tuned: Mapping[str, Mapping[int, Tuned]], cells: Mapping[tuple[str, int], ComparisonCell]
    ) -> Results:
        """Metrics of every method at every budget."""
        plan, marks, runs = self.plan, self.plan.job.marks, self.plan.realizations
        kinds = list(dict.fromkeys(cells.values()))
        self.watcher.stage("summing up")
        tallies = tally_runs(kinds, self.ledger.records(kinds), len(marks), runs)
        curves = {
            key: meaningful(tallies[cell].metrics(plan.job.stream_size), plan.setting)
            for key, cell in cells.items()
        }
        rows = []
        for (label, budget), cell in cells.items():
            asked = float(self.ledger.asked(cell, range(runs)).mean())
            metrics = at_the_end(curves[label, budget])
            rows.append(
                {
                    "method": label,
                    "budget": budget,
                    "budget_rule": plan.budget_rule,
                    "value": math.nan if label in plan.untuned else cell.value,
                    "asked": asked,
                    "mark": _mark(budget, metrics["queries"], asked, tuned[label][budget]),
                    "stand_in": plan.facts["stand_in"],
                    **metrics,
                }
            )
        return Results(
            settings={
                **plan.identity(),
                "remarks": list(plan.remarks),
                "tuning_runs": self._tuning_runs(kinds),
                "versions": versions(),
            },
            accuracies=np.array(plan.accuracies),
            rows=rows,
            rounds=marks,
            curves=curves,
            outcomes=self._outcomes(cells),
        )

    def _tuning_runs(self, kinds: Sequence[ComparisonCell]) -> dict[str, int]:
        """Runs of each method that serve no evaluation."""
        counts = dict.fromkeys((method.label for method in self.plan.job.methods), 0)
        for cell, finals in self.ledger.finals.items():
            if cell not in kinds:
                counts[cell.method] += int((finals[:, QUERIES] >= 0).sum())
        return counts

    def _outcomes(self, cells: Mapping[tuple[str, int], ComparisonCell]) -> dict[str, Outcomes]:
        runs, labels = self.plan.realizations, [method.label for method in self.plan.job.methods]
        found = {}
        for label in labels:
            finals = np.stack([self.ledger.finals[cells[label, b]][:runs] for b in self.plan.budgets], axis=1)
            found[label] = Outcomes(finals[:, :, QUERIES], finals[:, :, GAP])
        return found


def _mark(budget: int, bought: float, asked: float, tuned: Tuned) -> str:
    """Why a row has another number of labels than its budget; empty if it has not."""
    near = TOLERANCE * budget
    if abs(bought - budget) <= near:
        return ""
    return "cut" if abs(asked - budget) <= near else tuned.mark or "nearest"
