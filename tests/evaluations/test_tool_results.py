"""Gates and comparisons of runs on what evaluation tools wrote: its scores, its labels, and models not run."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import modelpicker as mp
from tests.cli.running import run
from tests.integrations import tool_files as files


def judged(path: Path, scores: Mapping[str, Sequence[float | None]]) -> Path:
    """Results of promptfoo in which a judge gave scores; None: the model was not run."""
    rows = [
        files.promptfoo_row(item, place, model, f"{model} says {item}", score=score, success=score > 0.5)
        for place, (model, given) in enumerate(scores.items())
        for item, score in enumerate(given)
        if score is not None
    ]
    return files.promptfoo_results(path, rows)


def test_a_gate_takes_the_scores_that_the_results_have(tmp_path: Path) -> None:
    good: list[float | None] = [1.0, 0.5, 1.0, 0.75] * 25
    bad: list[float | None] = [0.5, 0.5, 0.25, 0.75] * 25
    source = judged(tmp_path / "results.json", {"old": bad, "new": good})
    done = run("gate", source, "--champion", "old", "--challenger", "new", "--markdown", tmp_path / "summary.md")
    assert done.returncode == 0, done.stderr
    assert "PASS: new is not worse than old by more than 1 point" in done.stdout
    assert "score" in done.stderr
    assert "not worse" in (tmp_path / "summary.md").read_text()
    assert run("gate", source, "--champion", "new", "--challenger", "old").returncode == 1
    found = mp.gate(source, "old", "new")
    assert (found.loss, found.labels_needed) == ("grades", 0)
    assert found.difference.low == pytest.approx(0.3125)
    assert any('score "score" of promptfoo' in note for note in found.notes)
    assert mp.gate(source, "old", "new", label="pass").difference.low == pytest.approx(0.5)
    assert mp.compare_runs("new", "old", source=source).verdict == "a"


def test_a_gate_takes_labels_from_a_file_instead(tmp_path: Path) -> None:
    source = files.promptfoo_results(tmp_path / "results.json")
    lines = "\n".join(f"{item},none" for item in range(60))
    (tmp_path / "labels.csv").write_text(f"id,label\n{lines}\n")
    assert mp.gate(source, "good", "bad").verdict == "fail"
    assert mp.gate(source, "good", "bad", labels=tmp_path / "labels.csv").verdict == "pass"


def test_results_of_an_evaluation_tool_are_labels_too(tmp_path: Path) -> None:
    source = files.promptfoo_results(tmp_path / "results.json")
    (tmp_path / "told.csv").write_text("id,good,bad\n" + "".join(f"{i},{2 * i},none\n" for i in range(1, 60)))
    models = ["good", "bad"]
    assert mp.load_collection(tmp_path / "told.csv", source, models=models).labelled == 59
    graded = judged(tmp_path / "graded.json", {"old": [0.5] * 5, "new": [0.25] * 5})
    with pytest.raises(mp.InputError, match=r"graded\.json has no labels: .* grades at most"):
        mp.load_collection(tmp_path / "told.csv", graded, models=models)


def test_columns_of_scores_are_not_asked_of_results_that_have_their_own(tmp_path: Path) -> None:
    with pytest.raises(mp.InputError, match=r"Leave --scores \(scores=\) out"):
        mp.gate(files.promptfoo_results(tmp_path / "results.json"), "good", "bad", scores=True)


def test_two_runs_are_compared_by_the_scores_of_their_tool(tmp_path: Path) -> None:
    a = judged(tmp_path / "a.json", {"m": [1.0] * 30 + [0.5] * 30})
    b = judged(tmp_path / "b.json", {"m": [0.5] * 60})
    found = mp.compare_runs(a, b)
    assert (found.verdict, found.a_wins, found.ties, found.loss) == ("a", 30, 30, "grades")
    labelled = files.promptfoo_results(
        tmp_path / "c.json", [files.promptfoo_row(item, 0, "m", files.truth(item)) for item in range(60)]
    )
    rows = [files.promptfoo_row(item, 0, "m", files.truth(item), score=0.5) for item in range(60)]
    half = files.promptfoo_results(tmp_path / "d.json", rows)
    assert mp.compare_runs(labelled, half).a_wins == 60
    with pytest.raises(mp.InputError, match=r"different scores: a has 'score' and d has 'pass'"):
        mp.compare_runs(mp.load_collection(a), mp.load_collection(half, label="pass"), names=("a", "d"))


def test_what_is_unknown_of_a_model_that_was_not_run_counts_at_its_worst(tmp_path: Path) -> None:
    good: list[float | None] = [1.0] * 97 + [None] * 3
    source = judged(tmp_path / "results.json", {"old": [0.5] * 100, "new": good})
    found = mp.gate(source, "old", "new")
    assert (found.verdict, found.not_run, found.differing) == ("pass", 3, 97)
    assert found.difference.low == pytest.approx((97 * 0.5 - 3) / 100)
    assert found.difference.high == pytest.approx((97 * 0.5 + 3) / 100)
    stuck = mp.gate(source, "new", "old", 0.5)
    assert (stuck.verdict, stuck.labels_to_go, stuck.label_next) == ("undecided", None, ())
    assert "One of them was not run on 3 items: run it there." in stuck.sentence
    assert "| not run with both | 3 |" in stuck.markdown()
    done = run("gate", source, "--champion", "new", "--challenger", "old", "--gap", "0.5")
    assert done.returncode == 6
    assert "on 3 more, one of them was not run, and the worst is assumed" in " ".join(done.stdout.split())


def test_a_wide_file_may_say_that_a_model_was_not_run(tmp_path: Path) -> None:
    rows = [["a", "a", "a"], ["a", "b", "a"], ["a", "", "a"], ["", "", "a"]] * 5
    path = tmp_path / "wide.csv"
    path.write_text("old,new,label\n" + "\n".join(map(",".join, rows)) + "\n")
    assert mp.gate(path, "old", "new").difference.low == pytest.approx(-0.5)  # an abstention is wrong
    found = mp.gate(path, "old", "new", missing="not-run")
    assert found.not_run == 10
    assert [found.difference.low, found.difference.high] == pytest.approx([-0.75, 0.25])


@pytest.mark.slow
def test_limits_hold_whatever_the_answers_are_that_nobody_knows() -> None:
    """All orders of six contested items, three labelled, and all answers of two that a model was not run on."""
    wrong = total = 0
    for wins in itertools.product([0, 1], repeat=6):
        for order in itertools.combinations(range(6), 3):
            label = [1 if place in order else None for place in range(6)]
            rows = [[0, 1] if win else [1, 0] for win in wins] + [[0, mp.NOT_RUN]] * 2
            told = [None if one is None else 1 for one in label] + [1, 1]
            whole = mp.ModelCollection(rows, models=["old", "new"], classes=[0, 1]).with_labels(
                [-1 if one is None else one for one in told]
            )
            found = mp.gate(whole, "old", "new", confidence=0.7).difference
            for hidden in range(-2, 3):
                truth = (sum(1 if win else -1 for win in wins) + hidden) / 8
                wrong += not found.low - 1e-9 <= truth
                total += 1
    assert wrong <= 0.3 * total


def test_labelled_items_that_avoid_those_in_dispute_say_nothing_in_general(tmp_path: Path) -> None:
    rows = [["a", "a", "a"]] * 60 + [["a", "b", ""]] * 60
    path = tmp_path / "wide.csv"
    path.write_text("old,new,label\n" + "\n".join(map(",".join, rows)) + "\n")
    with pytest.raises(mp.InputError, match=r"0 of the 60 labelled items are among the 60 .*would have about 30"):
        mp.gate(path, "old", "new", of="population")
    assert json.loads(json.dumps(mp.gate(path, "old", "new").document()))["population"] is None
