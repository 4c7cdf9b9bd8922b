"""Wrong labels on streams: by how much statements are wider, and how often they are false.

    python -m benchmarks.stream_noise [--streams 100]

The tables of docs/how-to/losses.md. The first: models that are right with the probabilities of CASE, drawn
independently; all labels are asked for, so that nothing else is left open. The second: of that many streams, how
many saw a false statement at one of four looks, where labels are wrong only if that makes the best model look bad.
"""

import argparse
from typing import Any

import numpy as np

import modelpicker as mp

RATES = (0.0, 0.01, 0.02, 0.05)
ITEMS = (1_000, 10_000, 100_000)
# Of that many items, one is contested.
ONE_IN = (1, 5)
KINDS: tuple[Any, ...] = ("stream", "population")
CASE = (0.80, 0.75, 0.60)


def widths(every: int) -> None:
    """The gap that is stated of a model that is always right, less what is stated without noise."""
    for items in ITEMS:
        rows = np.zeros((items, 3), dtype=np.int64)
        rows[::every, 1:] = 1
        picker = mp.LabelEfficient(3, probability=1.0)
        mp.run_stream(picker, rows, np.zeros(items, dtype=np.int64))
        cells = []
        for kind in KINDS:
            gaps = [picker.certificate(0.95, kind, label_noise=rate).gap for rate in RATES]
            cells += [f"{100 * (gap - gaps[0]):.1f}%" for gap in gaps[1:]]
        print(f"| {'all' if every == 1 else f'1 in {every}'} | {items:,} | {' | '.join(cells)} |", flush=True)


def false_streams(kind: Any, rate: float, admitted: float, streams: int) -> int:
    """How many streams saw a false statement."""
    false = 0
    for seed in range(streams):
        random = np.random.default_rng(seed)
        truth = random.integers(0, 2, 2_000)
        right = random.random((2_000, 3)) < CASE
        rows = np.where(right, truth[:, None], 1 - truth[:, None])
        hurts = right[:, 0] & ~right[:, 1] & (random.random(2_000) < rate)
        told = np.where(hurts, 1 - truth, truth)
        picker = mp.LabelEfficient(3, seed=seed, probability=1.0)
        wrong = False
        for start in range(0, 2_000, 500):
            mp.run_stream(picker, rows[start : start + 500], told[start : start + 500])
            found = picker.certificate(0.95, kind, label_noise=admitted)
            seen = right[: start + 500].mean(axis=0) if kind == "stream" else np.array(CASE)
            wrong |= bool(seen.max() - seen[int(found.model)] > found.gap + 1e-9)
        false += wrong
    return false


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=100)
    streams = parser.parse_args().streams
    titles = [f"{kind}, {rate:.0%}" for kind in KINDS for rate in RATES[1:]]
    print(f"| contested | items | {' | '.join(titles)} |\n|---|---|{'---|' * len(titles)}")
    for every in ONE_IN:
        widths(every)
    print("\n| wrong labels | certificate about | false with `label_noise` | false without |\n|---|---|---|---|")
    for rate in (0.05, 0.2):
        for kind in KINDS:
            counts = [false_streams(kind, rate, admitted, streams) for admitted in (rate, 0.0)]
            print(f"| {rate:.0%} | {kind} | {counts[0]} of {streams} | {counts[1]} of {streams} |", flush=True)


if __name__ == "__main__":
    main()
