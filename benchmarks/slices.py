"""Slices: what they cost in labels, and what is served if each item gets the model of its slice, beside CAMS.

    python -m benchmarks.slices [--only labels|designs|served|policies] [--files 20] [--case drift]

The tables of docs/how-to/slices.md. EmoContext and Drift have no features and no columns. So items are sliced by
what most models say (`vote`), which is known without a label; by the quarter of the collection that they are from
(`quarter`; only Drift, where the accuracies change along the file); or at random, in four slices (`random`). Both
are read from MODELPICKER_TEST_DATA, by default ../shared/data, and left out where they are not.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from benchmarks.cams import Cams, CamsOfAllMaps, Served, play, two_model_policies, vote_contexts
from benchmarks.collections import Case, benchmark_collections
from modelpicker.algorithms.pools.label_model import new_label_model
from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.pool_state import PoolQuestion, SliceQuestion
from modelpicker.algorithms.pools.slices import SlicePart

Codes = npt.NDArray[Any]
NAMES = ("emocontext", "drift", "digits")
TOLERANCE = 0.02
BUDGETS = {"emocontext": (25, 50, 100, 200), "drift": (100, 250, 500)}
SCALES = np.geomspace(0.03, 30.0, 25)
TUNING = 4  # streams for each scale; others than those of the table


def cases(only: str | None) -> Iterator[Case]:
    """The collections of real models."""
    for case in benchmark_collections():
        if case.name not in NAMES:
            return
        if only in (None, case.name):
            yield case


class File(NamedTuple):
    """Items drawn at random from a collection."""

    number: int
    rows: Codes
    truth: Codes
    quarter: Codes
    """From which quarter of the collection each item is."""
    classes: int


def draw_file(case: Case, number: int) -> File:
    """A file by its number."""
    whole = case.collection
    items = np.random.default_rng(number).permutation(len(whole))[: case.stream_size]
    rows, truth = np.asarray(whole.predictions)[items], np.asarray(whole.labels)[items]
    return File(number, rows, truth, 4 * items // len(whole), len(whole.classes))


Cut = Callable[[File], Codes]


def by_vote(file: File) -> Codes:
    """Slices by what most models say."""
    return vote_contexts(file.rows, file.classes)


def by_quarter(file: File) -> Codes:
    """Slices by where in the collection the items are."""
    return file.quarter


def at_random(file: File) -> Codes:
    """Four slices, of 48, 24, 16 and 12 % of the items."""
    return np.random.default_rng(file.number).choice(4, len(file.rows), p=[0.48, 0.24, 0.16, 0.12])


def cuts(case: Case) -> dict[str, Cut]:
    """How a collection is sliced."""
    more: dict[str, Cut] = {"quarter": by_quarter} if case.name == "drift" else {}
    return {"vote": by_vote, **more, "random": at_random}


# Labels until all slices are certified.


def false_claims(pool: mp.SlicePicker, slices: Codes, rows: Codes, truth: Codes) -> int:
    """How many slices have a certificate that is not true."""
    right = rows == truth[:, None]
    found = 0
    for row in pool.slices:
        accuracy = right[slices == int(row.value)].mean(axis=0)
        found += row.certified and accuracy.max() - accuracy[int(row.model)] > row.gap + 1e-9
    return found


def alone(rows: Codes, truth: Codes, seed: int) -> int:
    """The labels that one pool takes until it is done, with the whole error for itself."""
    pool = mp.PoolPicker(rows, seed=seed, tolerance=TOLERANCE)
    return mp.run_pool(pool, truth.tolist()).labels_used


def labels_table(files: int, only: str | None) -> Iterator[str]:
    """Medians of the labels: slices together, and a pool for each with the whole error."""
    head = (
        "",
        "slices",
        "file certified",
        "all decided",
        "certified",
        "false",
        "file and slices apart",
        "slices apart",
    )
    yield "| " + " | ".join(head) + " |"
    yield "|---|---|---|---|---|---|---|---|"
    for case in cases(only):
        for name, cut in cuts(case).items():
            runs = [_labels_of(draw_file(case, number), cut) for number in range(files)]
            whole, together, certified, count, false, apart, parts = np.array(runs).T
            medians = [f"{np.median(values):.0f}" for values in (whole, together, apart, parts)]
            sure = f"{certified.sum():.0f} of {count.sum():.0f} | {false.sum():.0f}"
            slices = f"{name}, {np.median(count):.0f}"
            yield f"| {case.name} | {slices} | {' | '.join(medians[:2])} | {sure} | {' | '.join(medians[2:])} |"


def _labels_of(file: File, cut: Cut) -> tuple[int, ...]:
    rows, truth, number, slices = file.rows, file.truth, file.number, cut(file)
    pool = mp.SlicePicker(rows, slices.tolist(), seed=number, tolerance=TOLERANCE)
    whole = 0
    while not pool.done:
        item = pool.ask(1)[0]
        pool.tell(item, int(truth[item]))
        whole = whole or (pool.labels_used if pool.certified else 0)
    values = [int(value) for value, part in zip(pool.values, pool._parts, strict=True) if not pool._given_up(part)]
    parts = sum(alone(rows[slices == value], truth[slices == value], number) for value in values)
    certified = sum(row.certified for row in pool.slices)
    false = false_claims(pool, slices, rows, truth)
    apart = parts + alone(rows, truth, number)
    return whole, pool.labels_used, certified, len(pool.values), false, apart, parts


# What else was tried, each with one part changed.


class SlicesFirst(mp.SlicePicker):
    """Slices are asked about first, then the whole file."""

    def _next_of_all(self) -> PoolQuestion | None:
        waiting = [at for at, part in enumerate(self._parts) if part.left and self._wants_labels(part)]
        return self._ask_for_slice(min(waiting, key=self._turn)) if waiting else super()._next_of_all()


class OwnPart(SlicePart):
    """A slice that learns only from its own labels."""

    def _teach(self) -> None:
        PoolPicker._teach(self)


class OwnGuesses(mp.SlicePicker):
    """Each slice guesses by its own labels."""

    def _make_part(self, at: int) -> SlicePart:
        part = super()._make_part(at)
        part.__class__ = OwnPart
        part._model = new_label_model(len(self.models), len(self.classes))
        return part


class DrawsApart(mp.SlicePicker):
    """Draws for the whole file are simply known in the slice."""

    def _take_from_slice(self, question: PoolQuestion) -> SliceQuestion | None:
        return super()._take_from_slice(question._replace(draw=None))


DESIGNS: dict[str, type[mp.SlicePicker]] = {
    "as it is": mp.SlicePicker,
    "slices first": SlicesFirst,
    "a guess for each slice": OwnGuesses,
    "draws for the file do not count in slices": DrawsApart,
}


def designs_table(files: int, only: str | None) -> Iterator[str]:
    """Medians of the labels until all is decided."""
    yield "| | " + " | ".join(DESIGNS) + " |"
    yield "|---" * (len(DESIGNS) + 1) + "|"
    for case in cases(only):
        name, cut = ("quarter", by_quarter) if case.name == "drift" else ("random", at_random)
        drawn = [draw_file(case, number) for number in range(files)]
        medians = [np.median([_played(file, cut, kind) for file in drawn]) for kind in DESIGNS.values()]
        yield f"| {case.name}, {name} | " + " | ".join(f"{median:.0f}" for median in medians) + " |"


def _played(file: File, cut: Cut, kind: type[mp.SlicePicker]) -> int:
    pool = kind(file.rows, cut(file).tolist(), seed=file.number, tolerance=TOLERANCE)
    return mp.run_pool(pool, file.truth.tolist()).labels_used


# What is served.


def cams_on(file: File, cut: Cut, scale: float, budget: int | None, kind: type[Cams] = Cams) -> Served:
    """CAMS over a stream."""
    contexts, models = cut(file), file.rows.shape[1]
    cams = kind(two_model_policies(models, _number_of(file, cut)), models, file.classes, scale)
    coins = np.random.default_rng([file.number, 1]).random(len(contexts))
    return play(cams, file.rows, file.truth, contexts, coins, budget)


def _number_of(file: File, cut: Cut) -> int:
    """How many slices there can be."""
    return file.classes if cut is by_vote else 4


def picker_on(file: File, scale: float, budget: int | None) -> mp.Trace:
    """Model Picker over a stream."""
    picker = mp.ModelPicker(file.rows.shape[1], seed=file.number, query_scale=scale)
    return mp.run_stream(picker, file.rows, file.truth, budget=budget)


def tuned(case: Case, labels_of: Callable[[File, float], int]) -> dict[int, float]:
    """For each budget the scale whose mean number of labels is nearest."""
    files = [draw_file(case, 1000 + number) for number in range(TUNING)]
    means = [np.mean([labels_of(file, scale) for file in files]) for scale in SCALES.tolist()]
    return {budget: float(SCALES[np.abs(np.array(means) - budget).argmin()]) for budget in BUDGETS[case.name]}


def served_table(files: int, only: str | None) -> Iterator[str]:
    """Mean regret against the best single model, in percent of the items."""
    yield (
        "| | labels | Model Picker: served | in the end | CAMS: served | in the end | pool-picker: in the end | "
        "slice-picker: in the end |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for case in cases(only):
        if case.name not in BUDGETS:
            continue
        picker_scale = tuned(case, lambda file, scale: picker_on(file, scale, None).labels_used)
        for name, cut in cuts(case).items():
            if cut is not at_random:
                yield from _served_rows(case, name, cut, files, picker_scale)


def _served_rows(case: Case, name: str, cut: Cut, files: int, picker_scale: dict[int, float]) -> Iterator[str]:
    cams_scale = tuned(case, lambda file, scale: cams_on(file, cut, scale, None).labels)
    drawn = [draw_file(case, number) for number in range(files)]
    for budget in BUDGETS[case.name]:
        runs = [_served(file, cut, budget, cams_scale[budget], picker_scale[budget]) for file in drawn]
        means, errors = np.mean(runs, axis=0), np.std(runs, axis=0) / np.sqrt(files)
        cells = [f"{mean:.2f} ± {error:.2f}" for mean, error in zip(means, errors, strict=True)]
        yield f"| {case.name}, {name} | {budget} | " + " | ".join(cells) + " |"
    limits = np.mean([_limits(file, cut) for file in drawn], axis=0)
    yield f"| | all, known before | | 0 | | {limits[0]:.2f} | 0 | {limits[1]:.2f} |"


def _limits(file: File, cut: Cut) -> tuple[float, float]:
    """The regret of CAMS's best policy, and of the best model of each slice, if all labels are known."""
    contexts, slices = _number_of(file, cut), cut(file)
    wrong = file.rows != file.truth[:, None]
    by_slice = np.array([wrong[slices == at].sum(axis=0) for at in range(contexts)])
    policies = two_model_policies(file.rows.shape[1], contexts)
    best = wrong.sum(axis=0).min()
    of_policies = by_slice[np.arange(contexts)[None, :], policies].sum(axis=1).min()
    scale = 100.0 / len(wrong)
    return scale * float(of_policies - best), scale * float(by_slice.min(axis=1).sum() - best)


def _served(file: File, cut: Cut, budget: int, cams_scale: float, picker_scale: float) -> list[float]:
    """The regrets of one file: both streams as served, and all four policies in the end."""
    rows, truth, number, slices = file.rows, file.truth, file.number, cut(file)
    wrong, every = rows != truth[:, None], np.arange(len(rows))
    trace = picker_on(file, picker_scale, budget)
    # After the budget is spent the recommendation stands.
    stood = np.append(trace.recommended, np.full(len(rows) - len(trace), int(trace.winner)))
    cams = cams_on(file, cut, cams_scale, budget)
    pool = mp.PoolPicker(rows, seed=number, tolerance=0.0)
    mp.run_pool(pool, truth.tolist(), budget=budget)
    sliced = mp.SlicePicker(rows, slices.tolist(), seed=number, tolerance=TOLERANCE)
    mp.run_pool(sliced, truth.tolist(), budget=budget)
    named = {int(row.value): int(row.model) for row in sliced.slices}
    policies = [
        stood,
        np.full(len(rows), int(trace.winner)),
        cams.served,
        cams.final[slices],
        np.full(len(rows), int(pool.recommended)),
        np.array([named[value] for value in slices.tolist()]),
    ]
    best = wrong.sum(axis=0).min()
    return [100.0 * float(wrong[every, policy].sum() - best) / len(rows) for policy in policies]


def policies_table(files: int, only: str | None) -> Iterator[str]:
    """CAMS with its two sets of policies: regret while it is served, and in the end."""
    yield "| | labels | two models: served | in the end | all maps: served | in the end |"
    yield "|---|---|---|---|---|---|"
    for case in cases(only):
        for name, cut in cuts(case).items():
            if case.name in BUDGETS and cut is not at_random:
                yield from _policy_rows(case, name, cut, files)


def _policy_rows(case: Case, name: str, cut: Cut, files: int) -> Iterator[str]:
    drawn = [draw_file(case, number) for number in range(files)]
    found: dict[int, list[str]] = {budget: [] for budget in BUDGETS[case.name]}
    for kind in (Cams, CamsOfAllMaps):
        scale = tuned(case, lambda file, scale, kind=kind: cams_on(file, cut, scale, None, kind).labels)  # type: ignore[misc]
        for budget, cells in found.items():
            runs = [_regrets(file, cut, cams_on(file, cut, scale[budget], budget, kind)) for file in drawn]
            means, errors = np.mean(runs, axis=0), np.std(runs, axis=0) / np.sqrt(files)
            cells += [f"{mean:.2f} ± {error:.2f}" for mean, error in zip(means, errors, strict=True)]
    for budget, cells in found.items():
        yield f"| {case.name}, {name} | {budget} | " + " | ".join(cells) + " |"


def _regrets(file: File, cut: Cut, played: Served) -> tuple[float, float]:
    wrong, every = file.rows != file.truth[:, None], np.arange(len(file.rows))
    best, scale = wrong.sum(axis=0).min(), 100.0 / len(wrong)
    named = (played.served, played.final[cut(file)])
    served, final = (scale * float(wrong[every, policy].sum() - best) for policy in named)
    return served, final


TABLES = {"labels": labels_table, "designs": designs_table, "served": served_table, "policies": policies_table}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=TABLES, help="one table only")
    parser.add_argument("--files", type=int, default=10, help="files that are drawn from each collection")
    parser.add_argument("--case", help="one collection only, such as drift")
    given = parser.parse_args()
    for name, table in TABLES.items():
        if given.only in (None, name):
            for line in table(given.files, given.case):
                print(line, flush=True)
            print()


if __name__ == "__main__":
    main()
