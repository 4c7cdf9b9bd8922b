"""Files that a stream asks about as labels come: labels until a race is won, by how many people label at once.

    python -m benchmarks.feeding [--streams 10] [--items 3000]

Items are drawn from the shipped digits, with replacement. Each person has one question at a time, and whoever has
had theirs for longest answers next: so as many questions are open as there are people. "At once" decides about the
whole file before the first label; there, all questions count.
"""

import argparse
import uuid
from collections import deque

import numpy as np

import modelpicker as mp

PEOPLE = (1, 3, 10)
ALGORITHMS = ("race", "model-picker")


def drawn(items: int, seed: int) -> mp.ModelCollection:
    """Digits in a random order, some of them several times."""
    digits = mp.load_collection("digits")
    places = np.random.default_rng(seed).integers(len(digits), size=items)
    some = digits.take(places.tolist())
    return mp.ModelCollection.of_codes(some.predictions, some.labels, some.models, some.classes)


def begin(items: mp.ModelCollection, algorithm: str, seed: int) -> mp.Campaign:
    """A stream with the models of some items."""
    storage = f"memory://{uuid.uuid4().hex}"
    return mp.create_campaign(storage, "fed", models=list(items.models), algorithm=algorithm, seed=seed)


def fed(items: mp.ModelCollection, algorithm: str, seed: int, people: int) -> mp.Pick:
    """This many people label until nothing more is asked."""
    campaign = begin(items, algorithm, seed)
    campaign.ask_file(items)
    truth = [items.classes[code] for code in (() if items.labels is None else items.labels.tolist())]
    free = deque(f"person {number}" for number in range(people))
    held: deque[tuple[str, int]] = deque()
    while True:
        for person in list(free):
            for query in campaign.pending(1, lease=1e6, annotator=person):
                free.remove(person)
                held.append((person, query.id))
        if not held:
            return campaign.best()
        person, number = held.popleft()
        campaign.tell(number, truth[number], annotator=person)
        free.append(person)


def at_once(items: mp.ModelCollection, algorithm: str, seed: int) -> int:
    """How many questions there are if the whole file is decided about at once."""
    return begin(items, algorithm, seed).ask_file(items, at_once=True).queries


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--items", type=int, default=3000)
    given = parser.parse_args()
    streams = [drawn(given.items, seed) for seed in range(given.streams)]
    print("algorithm     people  labels (mean, least, most)   won    items decided")
    for algorithm in ALGORITHMS:
        for people in PEOPLE:
            picks = [fed(items, algorithm, seed, people) for seed, items in enumerate(streams)]
            labels = [pick.labels_used for pick in picks]
            won = sum(pick.state.name == "won" for pick in picks)
            print(
                f"{algorithm:13} {people:6}  {np.mean(labels):6.0f} {min(labels):6} {max(labels):6}"
                f"        {won:3} of {len(picks)}  {np.mean([pick.rounds for pick in picks]):8.0f}"
            )
        asked = [at_once(items, algorithm, seed) for seed, items in enumerate(streams)]
        print(f"{algorithm:13} at once {np.mean(asked):6.0f} {min(asked):6} {max(asked):6}          -")


if __name__ == "__main__":
    main()
