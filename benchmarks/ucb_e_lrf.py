"""UCB-E-LRF (Zhou et al., "On Speeding Up Language Model Evaluation", ICLR 2025), for the table of calls.

It runs models on items as UCB-E does, and fills in what was not run by a low-rank factorization. Written from how
the authors describe it, with what their published code has as defaults, and not from that code:

* first, one in 20 of all pairs of a model and an item is run, drawn at random;
* the scores that are known are fitted 64 times by the product of one number per model and one per item, each time
  without one in 20 of them, drawn at random: least squares in turn, 10 rounds, with a ridge of 0.1. A score that is
  not known has the mean of the 64 as its guess, and their standard deviation as its doubt;
* next comes the model with the largest mean of known scores, and of guess plus 5 times doubt elsewhere. It is run
  on the 32 items with the largest doubt;
* the model with the largest mean of known scores and guesses is named.

How the authors begin a fit could not be found: here the numbers of the models begin near 1.
"""

import numpy as np
import numpy.typing as npt

from modelpicker.kernels.primitives import Floats, Ints

FITS, ROUNDS, RIDGE, DROPPED = 64, 10, 0.1, 0.05
WARM_UP, BATCH, ETA = 0.05, 32, 5.0
Mask = npt.NDArray[np.bool_]


def fit(scores: Floats, used: Mask, start: Floats, ridge: float = RIDGE, rounds: int = ROUNDS) -> Floats:
    """The products of one number per model and one per item that are nearest to the scores that are used.

    Args:
        scores: [model, item].
        used: [fit, model, item].
        start: [fit, model]: the numbers of the models at first.
        ridge: pulls the numbers towards 0.
        rounds: of least squares, in turn for items and models.
    """
    weights = used.astype(np.float64)
    known = weights * scores
    of_models = start
    of_items = np.zeros((len(used), scores.shape[1]))
    for _ in range(rounds):
        up = np.matmul(of_models[:, None, :], known)[:, 0]
        of_items = up / (np.matmul((of_models * of_models)[:, None, :], weights)[:, 0] + ridge)
        up = np.matmul(known, of_items[:, :, None])[:, :, 0]
        of_models = up / (np.matmul(weights, (of_items * of_items)[:, :, None])[:, :, 0] + ridge)
    return np.asarray(of_models[:, :, None] * of_items[:, None, :])


def choose(scores: Floats, run: Mask, guess: Floats, doubt: Floats, most: int = BATCH) -> tuple[int, Ints]:
    """The next model, and the items that it is run on."""
    hoped = np.where(run, scores, guess + ETA * doubt).mean(axis=1)
    hoped[run.all(axis=1)] = -np.inf
    model = int(hoped.argmax())
    order = np.argsort(-np.where(run[model], -1.0, doubt[model]), kind="stable")
    return model, order[: min(most, int((~run[model]).sum()))]


def run_ucb_e_lrf(lost: Floats, seed: int) -> tuple[Ints, Ints, Ints]:
    """Calls, labelled items and who is named, after the warm-up and after each batch."""
    random = np.random.default_rng(seed)
    items, models = lost.shape
    order = random.permutation(models)
    scores = np.ascontiguousarray(1.0 - lost[:, order].T)
    run = np.zeros((models, items), dtype=np.bool_)
    run.ravel()[random.permutation(run.size)[: max(1, int(WARM_UP * run.size))]] = True
    calls, labels, named = [], [], []
    while True:
        used = run & (random.random((FITS, models, items)) >= DROPPED)
        found = fit(scores, used, 1.0 + 0.1 * random.standard_normal((FITS, models)))
        guess, doubt = found.mean(axis=0), found.std(axis=0)
        calls.append(int(run.sum()))
        labels.append(int(run.any(axis=0).sum()))
        named.append(int(order[np.where(run, scores, guess).mean(axis=1).argmax()]))
        if run.all():
            return np.array(calls), np.array(labels), np.array(named)
        model, chosen = choose(scores, run, guess, doubt)
        run[model, chosen] = True
