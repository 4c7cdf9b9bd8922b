"""`pick` on a stream by other losses, which name the classes of the file; labels may be grades."""

from typing import Any

import numpy as np
import pytest

import modelpicker as mp


def mails() -> mp.ModelCollection:
    """Model a misses much fraud and nothing else, model b the other way round; by accuracy a is better."""
    draw = np.random.default_rng(0)
    truth = draw.choice(["fine", "fraud"], 400, p=[0.8, 0.2])
    lucky = draw.random(400)
    careless = np.where((truth == "fraud") & (lucky < 0.5), "fine", truth)
    careful = np.where((truth == "fine") & (lucky < 0.2), "fraud", truth)
    return mp.ModelCollection(np.array([careless, careful]).T, labels=truth, models=["a", "b"])


@pytest.mark.parametrize("algorithm", ["label-efficient", "race"])
@pytest.mark.parametrize(("loss", "best"), [(None, "a"), ({"fraud": 20}, "b"), ({"fraud": {"fine": 20}}, "b")])
def test_a_loss_names_the_classes_of_the_file(algorithm: str, loss: Any, best: str) -> None:
    options: dict[str, Any] = {"probability": 1.0} if algorithm == "label-efficient" else {"tolerance": 0.01}
    found = mp.pick(mails(), setting="stream", loss=loss, algorithm=algorithm, options=options)
    assert found.model == best
    first, second = found.standing
    assert second.estimate > first.estimate


def test_somebody_may_be_asked_for_grades() -> None:
    collection = mails()
    bare = mp.ModelCollection([["Paris", "Lyon"], ["Oslo", "Rome"]] * 30, models=["a", "b"])

    def grade(fields: dict[str, Any]) -> Any:
        return mp.Label.graded({"Paris": 1, "Lyon": 0.5}) if fields["item"] % 2 == 0 else mp.Label.all_wrong()

    for algorithm in ("model-picker", "race"):
        found = mp.pick(bare, grade, setting="stream", loss="grades", algorithm=algorithm)
        assert (found.model, found.certificate.loss) == ("a", "grades")
    with pytest.raises(mp.InputError, match="says nothing about"):
        mp.pick(collection, lambda _: mp.Label.better("fine", "fraud"), setting="stream", loss={"fraud": 2})
