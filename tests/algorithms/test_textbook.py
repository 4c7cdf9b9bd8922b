"""A second opinion: NumPy transcriptions of the paper decide every round as the kernels do.

Both use the same coins, so decisions, recommendations and predictions must be the same, and probabilities must
agree to 1e-11. (A coin within 1e-11 of a probability could tip; the seeds are fixed, so none does.)
"""

from dataclasses import replace

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.bench.speed import CASES, Case
from modelpicker.bench.streams import make_stream
from modelpicker.coins import draw_coins
from modelpicker.encoding import Array
from tests.shared_data import load

METHODS = [pytest.param(case, id=case.algorithm.name) for case in CASES[1:]]


def compare(case: Case, predictions: Array, labels: Array, classes: int) -> None:
    kernel_only = {"classes": classes} if case.only_kernel else {}
    case = replace(case, models=predictions.shape[1], only_kernel=kernel_only)
    trace = mp.run_stream(case.picker(), predictions, labels)
    written = case.written(predictions, labels, draw_coins(0, 0, len(labels)), classes, **case.options)
    np.testing.assert_allclose(trace.probability, written.probability, atol=1e-11)
    for column in ("queried", "recommended", "predicted"):
        assert np.array_equal(getattr(trace, column), getattr(written, column)), column


@pytest.mark.parametrize("case", METHODS)
def test_kernels_decide_as_the_textbook_does_on_streams_that_always_divide(case: Case) -> None:
    compare(case, *make_stream(1500, 25, 10, seed=3), classes=10)


@pytest.mark.parametrize("case", METHODS)
def test_kernels_decide_as_the_textbook_does_where_models_are_nearly_tied(case: Case) -> None:
    near = mp.synthetic_collection(1500, 5, 3, [0.6, 0.61, 0.61, 0.62, 0.62], seed=4)
    compare(case, near.predictions, np.asarray(near.labels), classes=3)


@pytest.mark.parametrize("case", METHODS)
@pytest.mark.parametrize("collection", ["emocontext", "drift"])
def test_kernels_decide_as_the_textbook_does_on_the_shared_collections(case: Case, collection: str) -> None:
    predictions, labels = load(collection)
    items = np.random.default_rng(1).permutation(len(labels))[:1500]
    compare(case, predictions[items], labels[items], classes=int(labels.max()) + 1)


@pytest.mark.parametrize("variant", [{"query_scale": 4.0}, {"query_scale": 0.1}])
def test_model_pickers_scale_is_the_textbooks(variant: dict[str, float]) -> None:
    case = replace(CASES[1], options=variant)
    compare(case, *make_stream(1000, 12, 5, seed=6), classes=5)
