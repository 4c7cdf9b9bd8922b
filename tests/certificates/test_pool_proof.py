"""The proof of a pool: exact on tiny files, by going through every order in which items can be drawn."""

import copy
import math
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from modelpicker.certificates.control import Control, trust_guess
from modelpicker.certificates.pool_draws import weigh_draws, weigh_rows
from modelpicker.certificates.pool_proof import PoolProof
from modelpicker.certificates.pool_scores import PoolScores

CONFIDENCES = (0.5, 0.6, 0.75, 0.9)


def tiny_file(seed: int, items: int = 5, models: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Rows on which models differ, some of them abstentions, and the labels."""
    random = np.random.default_rng(seed)
    rows: list[np.ndarray] = []
    while len(rows) < items:
        row = random.integers(-1 if seed % 3 == 0 else 0, 3, models)
        if (row != row[0]).any():
            rows.append(row)
    return np.array(rows, dtype=np.int32), random.integers(0, 3, items).astype(np.int32)


def gaps(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """By how many items each model is worse than the best."""
    right = (rows == labels[:, None]).sum(axis=0)
    return np.asarray(right.max() - right)


def front(proof: PoolProof) -> int:
    """Some rule for who is put on trial: whoever has the most right so far."""
    done = proof.labelled
    return int(np.argmax((proof.rows[done] == proof.scores.truth[done][:, None]).sum(axis=0)))


def uneven_levels(proof: PoolProof, playing: np.ndarray) -> np.ndarray | None:
    """Levels of the next draw: every second draw takes all items alike, the others do not at all."""
    if proof.asked % 2:
        return None
    return np.where(playing, (np.arange(len(playing)) * 3 + proof.asked + 1) % 5, -1)


def chances(proof: PoolProof, model: int, playing: np.ndarray, levels: np.ndarray | None) -> dict[int, float]:
    """With which probability each item is drawn; counted here by itself."""
    value = np.where(playing, 0 if levels is None else levels, -1) + 1
    weights = np.where(proof.scores.differs(slice(None), model), value, 0).max(axis=1) * proof.drawable
    return {int(item): float(weights[item] / weights.sum()) for item in np.flatnonzero(weights)}


Tell = Callable[[np.ndarray, np.ndarray, list[int], int], list[int]]
"""Which labels come after a draw, by the rows and labels of the file: those that wait, or the one just drawn."""


def prompt(rows: np.ndarray, labels: np.ndarray, waiting: list[int], item: int) -> list[int]:
    """Every label comes at once."""
    return [*waiting, item]


def late(rows: np.ndarray, labels: np.ndarray, waiting: list[int], item: int) -> list[int]:
    """A label comes after the next draw."""
    return waiting


def reversed_pairs(rows: np.ndarray, labels: np.ndarray, waiting: list[int], item: int) -> list[int]:
    """Labels come in pairs, the later one first."""
    return [item, *waiting] if waiting else []


def adverse(rows: np.ndarray, labels: np.ndarray, waiting: list[int], item: int) -> list[int]:
    """Somebody who knows all labels holds back those that speak for the first model, and tells others at once."""
    return waiting if rows[item, 0] == labels[item] else [item]


TELLS = [prompt, late, reversed_pairs, adverse]


def chance_of_falsehood(
    proof: PoolProof, labels: np.ndarray, confidence: float, tell: Tell, waiting: list[int], skipped: int
) -> float:
    """The probability that a false certificate is ever seen, over all orders of the draws from here on."""
    true = gaps(proof.rows, labels)
    for model in range(proof.rows.shape[1]):
        if true[model] > proof.worse_by(model, confidence)[0]:
            return 1.0
    trial = proof.trial(front(proof))
    playing = ~proof.beaten(trial, confidence)
    levels = uneven_levels(proof, playing)
    # Whatever is expected, the proof must hold: here it is far too bold.
    expected = np.full(proof.rows.shape[1], 0.8)
    total = 0.0
    for item, chance in chances(proof, trial.model, playing, levels).items():
        branch = copy.deepcopy(proof)
        branch.draw(item, branch.trials[trial.model], playing, expected, np.full(len(expected), 0.2), levels)
        told = tell(branch.rows, labels, waiting, item)
        left = [*waiting, item]
        for one in told:
            left.remove(one)
            if one != skipped:
                branch.scores.truth[one] = labels[one]
                branch.learn(one)
        total += chance * chance_of_falsehood(branch, labels, confidence, tell, left, skipped)
    return total


@pytest.mark.parametrize("allowed", [0])
@pytest.mark.parametrize("tell", TELLS)
@pytest.mark.parametrize("skipped", [-1, 2])
def test_over_every_order_of_draws_false_certificates_are_as_rare_as_promised(
    allowed: int, tell: Tell, skipped: int
) -> None:
    """No error is allowed: the probabilities are exact. A certificate of any model at any time counts."""
    check_every_order(range(3, 6), (0.5, 0.75), allowed, tell, skipped)


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [0, 1])
@pytest.mark.parametrize("tell", TELLS)
@pytest.mark.parametrize("skipped", [-1, 2])
def test_over_every_order_of_draws_of_many_files(allowed: int, tell: Tell, skipped: int) -> None:
    check_every_order([*range(3), *range(6, 40)], CONFIDENCES, allowed, tell, skipped)


def check_every_order(
    seeds: Iterable[int], confidences: tuple[float, ...], allowed: int, tell: Tell, skipped: int
) -> None:
    """False certificates are as rare as promised, over every order of draws of some files."""
    worst = 0.0
    for seed in seeds:
        rows, labels = tiny_file(seed)
        for confidence in confidences:
            proof = PoolProof(PoolScores(rows, np.full(len(rows), -3, dtype=np.int32)), allowed)
            false = chance_of_falsehood(proof, labels, confidence, tell, [], skipped)
            assert false <= 1.0 - confidence + 1e-12, (seed, confidence)
            worst = max(worst, false / (1.0 - confidence))
    if tell is prompt and skipped < 0 and not allowed:
        assert worst > 0.0  # else nothing was tried


def test_a_label_that_comes_late_gives_the_same_money_as_one_that_came_at_once() -> None:
    rows, labels = tiny_file(1, items=8)
    expected, variance = np.full(3, 0.3), np.full(3, 0.5)

    def play(pause: bool) -> PoolProof:
        proof = PoolProof(PoolScores(rows, np.full(8, -3, dtype=np.int32)), 1)
        trial = proof.trial(0)
        proof.draw(3, trial, ~proof.beaten(trial, 0.95), expected, variance)
        if pause:
            assert (proof.draws[3].plain <= 1.0 + 1e-12).all()  # the worst case, until the label comes
        proof.scores.truth[3] = labels[3]
        proof.learn(3)
        return proof

    prompt_one, late_one = play(False), play(True)
    assert prompt_one.money.tolist() == late_one.money.tolist()
    assert prompt_one.trials[0].credit.tolist() == late_one.trials[0].credit.tolist()


def test_models_that_differ_on_fewer_items_than_allowed_are_out_without_a_label() -> None:
    rows = np.array([[0, 1], [1, 0]], dtype=np.int32)
    proof = PoolProof(PoolScores(rows, np.full(2, -3, dtype=np.int32)), 2)
    assert proof.beaten(proof.trial(0), 0.95).all()
    assert proof.worse_by(0, 0.95) == (2, True)


def test_when_all_is_labelled_the_gap_is_the_true_one_and_certain() -> None:
    for seed in range(20):
        rows, labels = tiny_file(seed, items=6, models=4)
        proof = PoolProof(PoolScores(rows, np.full(6, -3, dtype=np.int32)), 0)
        for item in range(6):
            proof.scores.truth[item] = labels[item]
            proof.learn(item)
        for model, gap in enumerate(gaps(rows, labels).tolist()):
            assert proof.worse_by(model, 0.95) == (gap, True)


def test_counts_that_are_kept_up_are_those_of_a_fresh_look() -> None:
    rows, labels = tiny_file(3, items=30, models=5)
    proof = PoolProof(PoolScores(rows, np.full(30, -3, dtype=np.int32)), 2)
    trial = proof.trial(2)
    for item in range(24):
        proof.take_out(item)
        if item % 3:
            proof.scores.truth[item] = labels[item]
            proof.learn(item)
    fresh = PoolProof(PoolScores(rows, proof.scores.truth), 2)
    fresh.labelled[:], fresh.drawable[:] = proof.labelled, proof.drawable
    counted, kept = fresh.trial(2).tally, trial.tally
    for name in ("known", "open", "left", "winnable"):
        assert getattr(counted, name).tolist() == getattr(kept, name).tolist(), name


def test_weights_that_are_kept_up_are_those_of_a_fresh_look_while_models_leave_the_play() -> None:
    rows, labels = tiny_file(6, items=60, models=6)
    proof = PoolProof(PoolScores(rows, np.full(60, -3, dtype=np.int32)), 25)
    trial = proof.trial(1)
    seen = set()
    for item in range(50):
        playing = ~proof.beaten(trial, 0.95)
        seen.add(int(playing.sum()))
        levels = np.where(playing, np.arange(6) % 5, -1)
        weights = proof.weights(trial, levels)
        expected = chances(proof, 1, playing, levels)
        of_all = (weights.by_item * proof.drawable).sum()
        assert {one: float(weights.by_item[one] / of_all) for one in expected} == expected
        assert sum(expected.values()) == pytest.approx(1.0 if playing.any() else 0.0)
        assert weights.sums.tolist() == weigh_draws(proof.scores, proof.drawable, 1, levels).sums.tolist()
        proof.take_out(item)
        if item % 4:
            proof.scores.truth[item] = labels[item]
            proof.learn(item)
    assert len(seen) > 2


def test_the_model_on_trial_is_set_beside_the_runner_up_by_counting() -> None:
    rows, labels = tiny_file(9, items=60, models=4)
    proof = PoolProof(PoolScores(rows, np.full(60, -3, dtype=np.int32)), 1)
    trial = proof.trial(2)
    for item in range(40):
        expected = np.random.default_rng(item).uniform(-1.0, 1.0, 4)
        differs = rows[:, [2]] != rows
        left = (differs & proof.drawable[:, None]).sum(axis=0)
        out = ~proof.drawable & ~proof.labelled
        open_ones = (differs & out[:, None] & (rows[:, [2]] >= 0)).sum(axis=0)
        right = (rows == proof.scores.truth[:, None]) & proof.labelled[:, None]
        ahead = right[:, 2].sum() - right.sum(axis=0)
        proof.draw(item, trial, ~proof.beaten(trial, 0.95), expected, np.full(4, 0.5))
        drawn, other = proof.draws[item], proof.draws[item].runner_up
        assert other != 2
        assert (drawn.shortfall[2], drawn.left[2]) == (open_ones[other] + ahead[other], max(1, left[other]))
        if item % 3:
            proof.scores.truth[item] = labels[item]
            proof.learn(item)
        elif item % 2:
            proof.give_up(item)


def test_money_never_falls_to_nothing() -> None:
    """A bet never risks all, so a losing streak leaves something to win with."""
    rows = np.tile(np.array([[0, 1]], dtype=np.int32), (60, 1))
    proof = PoolProof(PoolScores(rows, np.full(60, -3, dtype=np.int32)), 0)
    trial = proof.trial(0)
    for item in range(30):
        proof.draw(item, trial, ~proof.beaten(trial, 0.95), np.full(2, 0.9), np.full(2, 0.1))
        proof.scores.truth[item] = 1
        proof.learn(item)
    assert (proof.money > 0.0).all()
    assert math.isfinite(float(proof.money.max()))


def test_labels_out_with_several_people_win_as_much_as_labels_that_come_in_turn() -> None:
    """Once all have come, in any order, each bet is what it would have been one by one; before, it is less."""
    rows, labels = tiny_file(1, items=20)
    expected, variance = np.full(3, 0.3), np.full(3, 0.5)
    order = np.random.default_rng(0).permutation(20)[:8].tolist()

    def play(told_after: list[int], size: int) -> PoolProof:
        proof = PoolProof(PoolScores(rows, np.full(20, -3, dtype=np.int32)), 1)
        trial = proof.trial(0)
        for start in range(0, 8, size):
            for item in order[start : start + size]:
                proof.draw(item, trial, ~proof.beaten(trial, 0.999), expected, variance)
                # What the draws before say would be known later, or not at all: that part of the bets differs.
                proof.draws[item].mean, proof.draws[item].spread = expected, variance
                proof.draws[item].settle()
            for item in told_after[start : start + size]:
                before = proof.richest.copy()
                proof.scores.truth[item] = labels[item]
                proof.learn(item)
                assert (proof.richest >= before).all()
        assert not proof.draws
        return proof

    one_by_one = play(order, 1)
    for told_after in (order, order[::-1], [order[place] for place in (3, 0, 2, 1, 7, 6, 4, 5)]):
        size = 8 if told_after == order[::-1] else 4
        together = play(told_after, size)
        np.testing.assert_allclose(together.money, one_by_one.money, rtol=1e-12)
        np.testing.assert_allclose(together.trials[0].credit, one_by_one.trials[0].credit, rtol=1e-12)


def test_a_label_that_never_comes_holds_up_only_the_draws_around_it() -> None:
    rows, labels = tiny_file(2, items=900)
    proof = PoolProof(PoolScores(rows, np.full(900, -3, dtype=np.int32)), 9)
    trial = proof.trial(0)
    for item in range(800):
        proof.draw(item, trial, ~proof.beaten(trial, 1.0 - 1e-12), np.full(3, 0.3), np.full(3, 0.5))
        if item != 5:
            proof.scores.truth[item] = labels[item]
            proof.learn(item)
    assert not proof.draws


Guess = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""What is expected of each model on each item, by the rows and the labels of a file and by what is labelled."""


def truly(rows: np.ndarray, labels: np.ndarray, labelled: np.ndarray) -> np.ndarray:
    """Right everywhere."""
    right: np.ndarray = (rows == labels[:, None]).astype(np.float64)
    return right


def never(rows: np.ndarray, labels: np.ndarray, labelled: np.ndarray) -> np.ndarray:
    """Wrong everywhere."""
    return 1.0 - truly(rows, labels, labelled)


def for_the_last(rows: np.ndarray, labels: np.ndarray, labelled: np.ndarray) -> np.ndarray:
    """The last model is right, whatever is true; less so on items that come later."""
    found = np.zeros(rows.shape)
    found[:, -1] = 1.0 / (1.0 + np.arange(len(rows)))
    return found


def turning(rows: np.ndarray, labels: np.ndarray, labelled: np.ndarray) -> np.ndarray:
    """Right or wrong by what is known so far, and in part on every second item."""
    whole = truly(rows, labels, labelled) if labelled.sum() % 2 else never(rows, labels, labelled)
    found: np.ndarray = whole * np.where(np.arange(len(rows)) % 2, 0.4, 1.0)[:, None]
    return found


GUESSES = [truly, never, for_the_last, turning]


def control_by(proof: PoolProof, model: int, item: int, guesses: np.ndarray, share: np.ndarray) -> Control:
    """What the bets take from a guess, counted here by itself; so much of it is believed."""
    y = np.where(proof.scores.differs(slice(None), model), guesses[:, [model]] - guesses, 0.0)
    middle = y[proof.drawable].sum(axis=0) / np.maximum(1, proof.counts(model).left)
    return Control(share * (y[item] - middle), share * middle, share, np.full(len(share), 0.3))


def chance_with_guess(
    proof: PoolProof, labels: np.ndarray, confidence: float, tell: Tell, guess: Guess, waiting: list[int]
) -> float:
    """The probability that a false certificate is ever seen, if all of a guess is believed, or part of it."""
    true = gaps(proof.rows, labels)
    for model in range(proof.rows.shape[1]):
        if true[model] > proof.worse_by(model, confidence)[0]:
            return 1.0
    trial = proof.trial(front(proof))
    playing = ~proof.beaten(trial, confidence)
    levels = uneven_levels(proof, playing)
    models = len(playing)
    guesses = guess(proof.rows, labels, proof.labelled)
    share = np.where(playing, 1.0 - 0.3 * (np.arange(models) % 2), 0.0)
    total = 0.0
    for item, chance in chances(proof, trial.model, playing, levels).items():
        branch = copy.deepcopy(proof)
        control = control_by(proof, trial.model, item, guesses, share)
        bold, doubt = np.full(models, 0.8), np.full(models, 0.2)
        branch.draw(item, branch.trials[trial.model], playing, bold, doubt, levels, control)
        told = tell(branch.rows, labels, waiting, item)
        left = [*waiting, item]
        for one in told:
            left.remove(one)
            branch.scores.truth[one] = labels[one]
            branch.learn(one)
        total += chance * chance_with_guess(branch, labels, confidence, tell, guess, left)
    return total


def check_guesses(
    seeds: Iterable[int], confidences: tuple[float, ...], allowed: int, tell: Tell, guess: Guess
) -> None:
    """No guess makes false certificates more frequent than promised, over every order of draws."""
    used = 0.0
    for seed in seeds:
        rows, labels = tiny_file(seed)
        for confidence in confidences:
            proof = PoolProof(PoolScores(rows, np.full(len(rows), -3, dtype=np.int32)), allowed)
            false = chance_with_guess(proof, labels, confidence, tell, guess, [])
            assert false <= 1.0 - confidence + 1e-12, (seed, confidence)
            used = max(used, false)
    if tell is prompt and not allowed and guess is never:
        assert used > 0.0  # else nothing was tried


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("tell", [prompt, adverse])
def test_however_wrong_the_guess_is_false_certificates_are_as_rare_as_promised(tell: Tell, guess: Guess) -> None:
    """No error is allowed: the probabilities are exact. The guess is believed from the first draw on."""
    check_guesses((3, 9), (0.5,), 0, tell, guess)


@pytest.mark.slow
@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("allowed", [0, 1])
@pytest.mark.parametrize("tell", TELLS)
def test_however_wrong_the_guesses_at_many_files_are(allowed: int, tell: Tell, guess: Guess) -> None:
    check_guesses(range(20), CONFIDENCES, allowed, tell, guess)


def test_a_guess_that_is_right_wins_more_money_the_more_it_is_believed() -> None:
    """The first model is right on two of three items; 30 draws each, in the same order."""
    random = np.random.default_rng(0)
    rows = np.tile(np.array([0, 1], dtype=np.int32), (120, 1))
    labels = (random.random(120) < 1 / 3).astype(np.int32)
    won = {}
    for believed in (0.0, 0.5, 1.0):
        proof = PoolProof(PoolScores(rows, np.full(120, -3, dtype=np.int32)), 1)
        for item in range(30):
            trial = proof.trial(0)
            guesses = truly(rows, labels, proof.labelled)
            control = control_by(proof, 0, item, guesses, np.array([0.0, believed]))
            left = np.ones(2) if not believed else np.full(2, 1.0 - 0.8 * believed)
            control = control._replace(unexplained=left)
            proof.draw(item, trial, np.array([False, True]), np.full(2, 0.3), np.full(2, 0.5), None, control)
            proof.scores.truth[item] = labels[item]
            proof.learn(item)
        won[believed] = float(trial.best[1])
    assert won[1.0] > 1.5 * won[0.5] > 2.0 * won[0.0]


def test_a_guess_is_trusted_as_far_as_the_labels_speak_for_it() -> None:
    """40 labels. One that is right is believed nearly whole, one that knows nothing in one of ten files at most."""
    random = np.random.default_rng(0)
    differs = np.ones((40, 2), dtype=np.bool_)
    believed = 0
    for _ in range(50):
        x = random.choice([-1.0, 1.0], (40, 2))
        right = trust_guess(x, x * 0.8, differs, np.array([True, True]))
        assert (right.share > 0.8).all()
        assert (right.unexplained < 0.5).all()
        blind = trust_guess(x, random.uniform(-0.8, 0.8, (40, 2)), differs, np.array([True, True]))
        assert (blind.share < 0.5).all()
        believed += bool(blind.share.any())
        wrong = trust_guess(x, -x, differs, np.array([True, True]))
        assert not wrong.share.any()
        assert (wrong.unexplained == 1.0).all()
    assert believed <= 5


def test_labels_that_do_not_tell_two_models_apart_say_nothing_of_the_guess() -> None:
    x = np.array([[1.0, np.nan], [-1.0, 1.0], [1.0, 1.0]] * 8)
    y = np.array([[0.9, 0.9], [-0.9, -0.9], [0.9, 0.9]] * 8)
    differs = np.array([[True, True], [True, False], [True, False]] * 8)
    trust = trust_guess(x, y, differs, np.array([True, True]))
    alone = trust_guess(x[:, :1], y[:, :1], differs[:, :1], np.array([True]))
    assert trust.unexplained[1] == 1.0
    assert trust.unexplained[0] == pytest.approx(alone.unexplained[0])
    assert trust.unexplained[0] < 0.6


def graded_file(seed: int, items: int = 5, models: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows on which models differ, the true score of each model, and what people say about it: NaN if nothing."""
    random = np.random.default_rng(seed)
    rows, _ = tiny_file(seed, items, models)
    by_answer = random.integers(0, 5, (items, 4)) / 4.0
    by_answer[:, -1] = 0.0  # an abstention
    scores = np.take_along_axis(by_answer, rows % 4, axis=1)
    said = np.where(random.random((items, 4)) < 0.3, np.nan, by_answer) if seed % 2 else by_answer
    said[:, -1] = 0.0
    return rows, scores, np.take_along_axis(said, rows % 4, axis=1)


def chance_of_falsehood_with_grades(
    proof: PoolProof, scores: np.ndarray, said: np.ndarray, confidence: float, waiting: list[int], *, late: bool
) -> float:
    """The probability that a false certificate is ever seen, over all orders of the draws from here on."""
    sums = scores.sum(axis=0)
    for model in range(len(sums)):
        if sums.max() - sums[model] > proof.worse_by(model, confidence)[0] + 1e-9:
            return 1.0
    known = np.nan_to_num(proof.scores.at(np.flatnonzero(proof.labelled))).sum(axis=0)
    trial = proof.trial(int(np.argmax(known)))
    playing = ~proof.beaten(trial, confidence)
    levels, bold, doubt = uneven_levels(proof, playing), np.full(len(sums), 0.8), np.full(len(sums), 0.2)
    total = 0.0
    for item, chance in chances(proof, trial.model, playing, levels).items():
        branch = copy.deepcopy(proof)
        branch.draw(item, branch.trials[trial.model], playing, bold, doubt, levels)
        for one in waiting if late else [item]:
            branch.scores.grade(one, said[one])
            branch.learn(one)
        left = [item] if late else []
        total += chance * chance_of_falsehood_with_grades(branch, scores, said, confidence, left, late=late)
    return total


def check_grades(seeds: Iterable[int], confidences: tuple[float, ...], allowed: float, *, late: bool) -> None:
    """False certificates are as rare as promised, over every order of draws, whatever the grades are."""
    for seed in seeds:
        rows, scores, said = graded_file(seed)
        for confidence in confidences:
            truth = np.full(len(rows), -3, dtype=np.int32)
            proof = PoolProof(PoolScores(rows, truth, whole=False), allowed)
            false = chance_of_falsehood_with_grades(proof, scores, said, confidence, [], late=late)
            assert false <= 1.0 - confidence + 1e-12, (seed, confidence)


@pytest.mark.parametrize("allowed", [0.0, 0.6])
@pytest.mark.parametrize("late", [False, True])
def test_over_every_order_of_draws_grades_make_no_more_false_certificates(allowed: float, late: bool) -> None:
    """No error is allowed: the probabilities are exact. Some grades are missing, and count as the worst."""
    check_grades(range(2), (0.5,), allowed, late=late)


@pytest.mark.parametrize("late", [False, True])
def test_a_file_that_lures_the_bets_makes_false_certificates_no_more_often_than_promised(late: bool) -> None:
    """The first model is better on most items and worse by more on the others: some orders of draws mislead."""
    first = np.array([0.5, 0.5, 0.5, 0.25, 0.0, 0.0])
    second = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0])
    rows, scores = np.tile(np.array([[0, 1]], dtype=np.int32), (6, 1)), np.stack([first, second], axis=1)
    proof = PoolProof(PoolScores(rows, np.full(6, -3, dtype=np.int32), whole=False), 0.0)
    assert 0.0 < chance_of_falsehood_with_grades(proof, scores, scores, 0.5, [], late=late) <= 0.5


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [0.0, 0.6])
@pytest.mark.parametrize("late", [False, True])
def test_over_every_order_of_draws_of_many_files_with_grades(allowed: float, late: bool) -> None:
    check_grades(range(3, 40), CONFIDENCES, allowed, late=late)


def test_counts_with_grades_that_are_kept_up_are_those_of_a_fresh_look() -> None:
    rows, _, said = graded_file(3, items=30, models=5)
    proof = PoolProof(PoolScores(rows, np.full(30, -3, dtype=np.int32), whole=False), 2.0)
    trial = proof.trial(2)
    for item in range(24):
        proof.take_out(item)
        if item % 3:
            proof.scores.grade(item, said[item])
            proof.learn(item)
    fresh = PoolProof(proof.scores, 2.0)
    fresh.labelled[:], fresh.drawable[:] = proof.labelled, proof.drawable
    counted, kept = fresh.trial(2).tally, trial.tally
    for name in ("known", "open", "left", "winnable"):
        assert getattr(counted, name).tolist() == getattr(kept, name).tolist(), name


def test_grades_of_nought_and_one_win_nearly_what_right_and_wrong_do() -> None:
    """Where losses may lie between 0 and 1, a bad model is worse by more than is allowed, not by one item more."""
    rows, labels = tiny_file(1, items=60)
    right = (rows == labels[:, None]).astype(np.float64)
    expected, variance = np.full(3, 0.3), np.full(3, 0.5)

    def play(whole: bool) -> PoolProof:
        proof = PoolProof(PoolScores(rows, np.full(60, -3, dtype=np.int32), whole=whole), 1)
        trial = proof.trial(0)
        for item in range(8):
            proof.draw(item, trial, ~proof.beaten(trial, 0.999), expected, variance)
            proof.scores.grade(item, right[item])
            proof.learn(item)
        return proof

    whole, graded = play(True), play(False)
    assert whole.money[1:] == pytest.approx(graded.money[1:], rel=0.25)


@pytest.mark.parametrize("seed", range(5))
def test_large_pools_weigh_their_items_as_small_ones_do(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.integers(-1, 4, (300, 6)).astype(np.int32)
    drawable, levels = random.random(300) < 0.8, random.integers(-1, 5, 6)
    levels[2] = -1
    expected = weigh_draws(PoolScores(rows, np.zeros(300, dtype=np.int32)), drawable, 2, levels)
    by_item, sums = np.zeros(300, dtype=np.int8), np.zeros(6)
    weigh_rows(rows, drawable, 2, (1 + levels).astype(np.int8), by_item, sums)
    assert by_item.tolist() == expected.by_item.tolist()
    assert sums.tolist() == expected.sums.tolist()
