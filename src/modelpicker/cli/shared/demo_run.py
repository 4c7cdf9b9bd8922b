"""What the demo shows and measures."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from modelpicker.algorithms import Algorithm, ModelPicker, run_stream
from modelpicker.algorithms.label_efficient import LabelEfficient
from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.run import run_pool
from modelpicker.algorithms.race import Race
from modelpicker.certificates.certificate import Certificate
from modelpicker.collections.shipped import SHIPPED, shipped_collection
from modelpicker.encoding import Array
from modelpicker.errors import NotFoundError

# Moments that are shown of one stream.
PIECES = 120
LEADERS = 8
# Streams on which the confidence is measured, and how finely labels are counted there.
REALIZATIONS = 100
STEP = 10
# What counts as proven: so close to the best model, with this confidence.
GOAL, CONFIDENCE = 0.01, 0.95


class Moment(NamedTuple):
    """How things stand after some rounds."""

    rounds: int
    items: int
    labels_used: int
    leaders: list[tuple[str, float]]
    """The best models so far, each with its estimated gap to the first."""


class Demonstration:
    """One stream that is played piece by piece, and the measurements after it."""

    pieces = PIECES
    realizations = REALIZATIONS

    def __init__(self, name: str, seed: int) -> None:
        if name not in SHIPPED:
            raise NotFoundError(f"there is no collection {name!r}; those that ship are {', '.join(SHIPPED)}.")
        self.name = name
        self.seed = seed
        self.collection = shipped_collection(name)
        self.codes = self.collection.predictions
        labels = self.collection.labels
        self.labels: Array = labels if labels is not None else np.empty(0)
        self.accuracies = np.asarray(self.collection.accuracies)
        self.order = self._shuffled(seed, 0)
        self.picker = ModelPicker(self.collection.models, seed)
        run_stream(ModelPicker(2), self.codes[:1, :2], self.labels[:1])  # compiles, while the user is told to wait

    def facts(self) -> dict[str, Any]:
        """What the stream is made of."""
        return {
            "name": self.name,
            "about": SHIPPED[self.name],
            "items": len(self.collection),
            "models": len(self.collection.models),
            "classes": len(self.collection.classes),
            "fingerprint": self.collection.fingerprint,
        }

    def moments(self) -> Iterator[Moment]:
        """Play the rest of the stream, a piece at a time."""
        marks = np.linspace(0, len(self.order), self.pieces + 1).astype(int).tolist()
        for start, stop in pairwise(marks):
            if start < self.picker.rounds or start == stop:
                continue
            items = self.order[start:stop]
            run_stream(self.picker, self.codes[items], self.labels[items])
            yield Moment(self.picker.rounds, len(self.order), self.picker.labels_used, self._leaders())

    def _leaders(self) -> list[tuple[str, float]]:
        losses = self.picker.losses / self.picker.rounds
        order = losses.argsort(kind="stable")[:LEADERS].tolist()
        return [(self.collection.models[model], float(losses[model] - losses.min())) for model in order]

    def _shuffled(self, seed: int, stream: int) -> Array:
        """An order of the items: a different one for each stream, the same for the same seed."""
        return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, stream]))).permutation(
            len(self.collection)
        )

    def report(self) -> dict[str, Any]:
        """The pick, how it truly ranks, and what the same confidence costs in other ways."""
        names, losses = self.collection.models, self.picker.losses
        picked = names.index(str(self.picker.recommended))
        gaps = (losses - losses[picked]) / self.picker.rounds
        order = sorted(range(len(names)), key=lambda model: (model != picked, gaps[model]))
        return {
            "collection": self.facts(),
            "seed": self.seed,
            "pick": names[picked],
            "true_rank": int(1 + (self.accuracies > self.accuracies[picked]).sum()),
            "rounds": self.picker.rounds,
            "labels_used": self.picker.labels_used,
            "standing": [
                {
                    "model": names[model],
                    "gap_estimated": round(float(gaps[model]), 6),
                    "gap_true": round(float(self.accuracies[picked] - self.accuracies[model]), 6),
                    "accuracy": round(float(self.accuracies[model]), 6),
                }
                for model in order
            ],
            "goal": {"gap": GOAL, "confidence": CONFIDENCE},
            "ways": self._ways(),
            "confidence": self._confidence(),
        }

    def _ways(self) -> list[dict[str, Any]]:
        """What each way of picking names on the same items, what it costs, and whether it proves its pick.

        Streams come in the order of the demonstration. As many labels at random as Model Picker bought are spread
        over the items on which models differ.
        """
        names, seed, bought = self.collection.models, self.seed, self.picker.labels_used
        pool = PoolPicker(self.collection, seed=seed, confidence=CONFIDENCE, tolerance=GOAL)
        run_pool(pool)
        race = Race(names, seed, confidence=CONFIDENCE, tolerance=GOAL)
        random = LabelEfficient(names, seed, probability=min(1.0, bought / max(1, pool.contested)))
        for other in (race, random):
            run_stream(other, self.codes[self.order], self.labels[self.order])
        found = [self._way("pool", pool.labels_used, pool.certificate(CONFIDENCE))]
        streams: dict[str, Algorithm] = {"race": race, "model-picker": self.picker, "random": random}
        for way, picker in streams.items():
            found.append(self._way(way, picker.labels_used, picker.certificate(CONFIDENCE, "population")))
        return found

    def _way(self, way: str, labels: int, certificate: Certificate) -> dict[str, Any]:
        picked = self.accuracies[self.collection.models.index(str(certificate.model))]
        return {
            "way": way,
            "labels_used": labels,
            "pick": certificate.model,
            "true_rank": int(1 + (self.accuracies > picked).sum()),
            "proved_within": certificate.gap,
            "kind": certificate.kind,
            "reached": certificate.gap <= GOAL,
        }

    def _confidence(self) -> dict[str, Any]:
        """How often Model Picker finds the best model, and how many labels at random do so as often."""
        best = self.accuracies == self.accuracies.max()
        right = self.codes == self.labels[:, None]
        marks = np.arange(STEP, len(right) + STEP, STEP).clip(max=len(right))
        found, labels, hits = 0, 0, np.zeros(len(marks))
        for stream in range(1, self.realizations + 1):
            order = self._shuffled(self.seed, stream)
            picker = ModelPicker(self.collection.models, self.seed + stream)
            trace = run_stream(picker, self.codes[order], self.labels[order])
            found += bool(best[self.collection.models.index(str(trace.winner))])
            labels += trace.labels_used
            hits += best[_leaders_at_random(right[order], marks)]
        enough = np.flatnonzero(hits >= found)
        return {
            "realizations": self.realizations,
            "identification_probability": found / self.realizations,
            "model_picker_labels": labels / self.realizations,
            "random_labels": int(marks[enough[0]]),
            "all_labels": len(right),
        }


def _leaders_at_random(right: Array, marks: Array) -> Array:
    """The model with the most items right among the first few, for several numbers of items in random order."""
    steps = np.add.reduceat(right, np.concatenate([[0], marks[:-1]]), axis=0, dtype=np.int32)
    leaders: Array = steps.cumsum(axis=0).argmax(axis=1)
    return leaders
