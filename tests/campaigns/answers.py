"""Small pools of free answers, and people who grade, compare or label them."""

from typing import Any

import modelpicker as mp

MODELS = ["ada", "ben", "cat", "dan"]
KINDS = ("class", "several", "grades", "all wrong", "preference")


def collection(items: int = 60, first: int = 0) -> mp.ModelCollection:
    """Free answers: ada is right, ben nearly, cat on every other item, and dan never; one abstention."""
    rows: list[list[str | None]] = []
    for place in range(first, first + items):
        right = f"The answer to {place} is {place * 7}"
        near = f"{right}, about"
        wrong = f"I cannot say what {place} is"
        rows.append([right, near if place % 3 else right, right if place % 2 else wrong, wrong])
    rows[-1][3] = None
    keys = [f"item {first + place}" for place in range(items)]
    return mp.ModelCollection(rows, models=MODELS, fields={"id": keys, "text": [f"What is {key}?" for key in keys]})


def grade_of(answer: int | str) -> float:
    """How good an answer is."""
    text = str(answer)
    return 0.0 if "cannot" in text else 0.6 if "about" in text else 1.0


def said_of(items: mp.ModelCollection, place: int) -> list[str]:
    """The different answers to an item, in the order of the models."""
    found = dict.fromkeys(items.predictions[place].tolist())
    return [str(items.classes[code]) for code in found if code >= 0]


def label_of(kind: str, query: mp.Query) -> Any:
    """What a person says about an item."""
    best = f"The answer to {query.id} is {query.id * 7}"
    match kind:
        case "class":
            return best
        case "several":
            return mp.Label.any_of(best, f"{best}, about")
        case "grades":
            return mp.Label.graded({answer: grade_of(answer) for answer in query.candidates})
        case "all wrong":
            return mp.Label.all_wrong()
        case _:
            first, second = query.candidates
            better = grade_of(first) - grade_of(second)
            if better == 0.0:
                return mp.Label.equal(first, second)
            return mp.Label.better(first, second) if better > 0.0 else mp.Label.better(second, first)


def asks(kind: str) -> str:
    """What a campaign asks for that gets such labels."""
    return {"several": "class", "all wrong": "grades"}.get(kind, kind)


def make(url: str, kind: str, name: str = "free", items: int = 60, **more: Any) -> mp.Campaign:
    """A campaign on a small pool of free answers."""
    settings: dict[str, Any] = {"tolerance": 0.0, "seed": 3, "ask_for": asks(kind), **more}
    return mp.create_campaign(url, name, pool=collection(items), **settings)


def judge(campaign: mp.Campaign, kind: str, most: int, by: str = "ann") -> dict[int, Any]:
    """Say something of that many items; what was said."""
    told: dict[int, Any] = {}
    while len(told) < most:
        queries = campaign.pending(1, lease=600, annotator=by)
        if not queries:
            break
        told[queries[0].id] = label_of(kind, queries[0])
        campaign.tell(queries[0].id, told[queries[0].id], annotator=by)
    return told
