"""Other libraries and methods on the same files: labels until each names the best model of the file.

    python -m pip install --no-deps river scikit-activeml makefun
    python -m benchmarks.peers [--files 40] [--case digits]

The second table of docs/how-it-works/comparison.md. All methods play the same files, drawn as in benchmarks.pools.
A library that is not installed is left out.

* scikit-activeml: `vote_entropy` of the models' answers says which item is asked about next; the model with the
  fewest mistakes so far is named.
* River: `SuccessiveHalvingClassifier` sees the items in their order, and learns every label.
* PPI++ (Angelopoulos, Duchi and Zrnic, 2023), written from its formulas: items at random, a judge labels all items,
  and the model of the highest estimated accuracy is named.
* The judge is right on 90 % of the items.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from benchmarks.judges import JUDGES
from benchmarks.pools import LEVELS, Given, needed, pool_cases, shares
from modelpicker.algorithms.pools.peers import PoolRun
from modelpicker.experiments.pool_methods import PlayedPoolPicker

JUDGE = JUDGES["90%"]
# With fewer labels there is too little to tune how far PPI trusts the judge: then it trusts it fully.
ENOUGH = 30
Rows = npt.NDArray[Any]
Play = Callable[[Rows, Rows, int, int, int], PoolRun]


class Peer(PlayedPoolPicker):
    """A method that is played as ours is."""

    def __init__(self, play: Play) -> None:
        super().__init__()
        self._play = play

    def play(self, rows: Rows, labels: Rows, classes: int, most: int, seed: int) -> PoolRun:
        """Play a file."""
        return self._play(rows, labels, classes, most, seed)


def _named(right: Rows, items: Rows, seed: int) -> PoolRun:
    """The model with the most right answers, after each of the items; a coin decides between equals."""
    counts = np.vstack([np.zeros(right.shape[1]), np.cumsum(right[items], axis=0)])
    counts += np.random.default_rng(seed).random(right.shape[1]) * 1e-6
    return PoolRun(items, counts.argmax(axis=1))


def at_random(rows: Rows, labels: Rows, classes: int, most: int, seed: int) -> PoolRun:  # noqa: ARG001
    """Items at random, all of them, as most people do."""
    items = np.random.default_rng(seed).permutation(len(rows))[:most]
    return _named(rows == labels[:, None], items, seed)


def scikit_activeml(rows: Rows, labels: Rows, classes: int, most: int, seed: int) -> PoolRun:
    """The items whose votes have the highest entropy first."""
    from skactiveml.pool import vote_entropy

    votes = np.where(rows < 0, classes, rows).astype(np.int64)  # an abstention is a vote of its own
    entropy = vote_entropy(votes, classes=list(range(classes + 1)))
    entropy = entropy + np.random.default_rng(seed).random(len(rows)) * 1e-9
    return _named(rows == labels[:, None], np.argsort(-entropy)[:most], seed)


def river(rows: Rows, labels: Rows, classes: int, most: int, seed: int) -> PoolRun:  # noqa: ARG001
    """Every item in its order, with its label."""
    from river import base, metrics, model_selection

    class Fixed(base.Classifier):  # type: ignore[misc, unused-ignore]
        """A model that is trained already."""

        def __init__(self, number: int) -> None:
            self.number = number

        def learn_one(self, x: Any, y: Any) -> None:
            """It stays as it is."""

        def predict_one(self, x: Any) -> Any:
            """What it says about the item."""
            return x[self.number]

    models = [Fixed(number) for number in range(rows.shape[1])]
    halving = model_selection.SuccessiveHalvingClassifier(models, metrics.Accuracy(), budget=most * 10)
    named = [0]
    for row, label in zip(rows[:most].tolist(), labels[:most].tolist(), strict=True):
        halving.learn_one(row, label)
        named.append(halving.best_model.number)
    return PoolRun(np.arange(len(named) - 1), np.array(named))


def ppi(rows: Rows, labels: Rows, classes: int, most: int, seed: int) -> PoolRun:
    """Items at random; each accuracy is estimated from all the judge's labels, put right by the true ones."""
    judge = np.asarray(JUDGE(rows, labels, classes, seed))
    items = np.random.default_rng(seed).permutation(len(rows))[:most]
    cheap, true = (rows == judge[:, None]).astype(float), (rows == labels[:, None]).astype(float)
    named = [int(cheap.mean(axis=0).argmax())]
    for count in range(1, len(items) + 1):
        z, y = cheap[items[:count]], true[items[:count]]
        spread = cheap.var(axis=0) * (1 + count / len(rows))
        tuned = ((z - z.mean(axis=0)) * (y - y.mean(axis=0))).mean(axis=0) / np.maximum(spread, 1e-12)
        trust = np.clip(tuned, 0, 1) if count >= ENOUGH else np.ones(rows.shape[1])
        named.append(int((y.mean(axis=0) + trust * (cheap.mean(axis=0) - z.mean(axis=0))).argmax()))
    return PoolRun(items, np.array(named))


def with_judge(rows: Rows, labels: Rows, classes: int, most: int, seed: int) -> PoolRun:
    """PoolPicker with the same judge as PPI."""
    judge = np.asarray(JUDGE(rows, labels, classes, seed))
    pool = mp.PoolPicker(rows, seed=seed, tolerance=0.0, judge=judge.tolist())
    before = pool.recommended_index
    trace = mp.run_pool(pool, labels, budget=most)
    return PoolRun(trace.items, np.append(before, trace.recommended))


METHODS: dict[str, tuple[Play | None, str]] = {
    "modelpicker": (None, ""),
    "modelpicker, with the judge": (with_judge, ""),
    "PPI++, with the judge": (ppi, ""),
    "scikit-activeml, vote entropy": (scikit_activeml, "skactiveml"),
    "River, successive halving": (river, "river"),
    "labels at random": (at_random, ""),
}


def table(given: Given) -> Iterator[str]:
    """Labels until the best model is named in a share of the files: for the first time (or from then on)."""
    yield "| | method | " + " | ".join(f"{level:.0%}" for level in LEVELS) + " |"
    yield "|---|---|" + "---|" * len(LEVELS)
    for case in pool_cases(given):
        for name, (play, library) in METHODS.items():
            if library and find_spec(library) is None:
                print(f"{name} left out: {library} is not installed.", file=sys.stderr)
                continue
            rule = PlayedPoolPicker() if play is None else Peer(play)
            share = shares(case, name, rule, given.files)
            yield f"| {case.name} | {name} | " + " | ".join(str(needed(share, level)) for level in LEVELS) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=40, help="files that are drawn from each collection")
    parser.add_argument("--case", help="one collection only, such as digits")
    given = parser.parse_args()
    for line in table(Given(given.files, 0, given.case)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
