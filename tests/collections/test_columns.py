"""Which columns are models: what is certain, what is in doubt, and that plain collections raise no doubt.

| column | alone decides | in doubt |
|---|---|---|
| named by the user, or `label`, `id`, `key`, `item`, `text`, `image`, `url`, row numbers | yes | never |
| in long form, in arrays, in files that we saved | yes | never |
| objects, addresses, numbers among text, row numbers, names such as `question` | no | if few are so |
| numbers that are not whole | no | unless all columns or the labels hold such numbers |
| two groups of columns, each with values of its own | no | both, unless labels or classes tell |
| values that hardly any other column has, constant ones among them | no | if the other columns share theirs |
| free text where every column is free text; a constant that others answer too | model | no |
"""

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.cli.bounds import bounds
from modelpicker.cli.collections import convert, show
from modelpicker.cli.compare import compare
from modelpicker.cli.pick import pick
from modelpicker.cli.shared.read_collection import READING
from modelpicker.cli.shared.terminal import how_to_read
from modelpicker.collections.column_roles import Column, Reading, guess_columns
from modelpicker.collections.data_frames import frame_table
from modelpicker.collections.preview import preview_collection
from tests.shared_data import need

WORDS = ("spam", "ham", "news")
QUESTIONS = [f"What is {number} and {number + 1}?" for number in range(200)]


def guess(columns: dict[str, Any], /, **said: Any) -> dict[str, Column]:
    table = frame_table(columns)
    assert table is not None
    return {column.name: column for column in guess_columns(table, Reading(**said))}


def doubts(columns: dict[str, Any], /, **said: Any) -> dict[str, str]:
    return {name: column.role for name, column in guess(columns, **said).items() if column.doubt}


def models(items: int, count: int = 4, classes: tuple[object, ...] = WORDS, seed: int = 0) -> dict[str, Any]:
    """Models that are right two times out of three."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, len(classes), items)
    made = {}
    for number in range(count):
        wrong = draw.integers(0, len(classes), items)
        codes = np.where(draw.random(items) < 0.66, truth, wrong)
        made[f"model-{number}"] = [classes[code] for code in codes]
    return made


STRANGE: dict[str, tuple[Any, str]] = {
    "question": (lambda number: QUESTIONS[number], "shown"),
    "frage": (lambda number: QUESTIONS[number], "shown"),
    "confidence": (lambda number: 0.5 + number / 1000, "left out"),
    "wert": (lambda number: 0.5 + number / 1000, "left out"),
    "split": (lambda _: "test", "left out"),
    "teil": (lambda _: "test", "left out"),
    "image_url": (lambda number: f"https://example.org/{number}.png", "shown"),
    "bild": (lambda number: f"https://example.org/{number}.png", "shown"),
    "datei": (lambda number: f"bilder/{number}.jpg", "shown"),
    "meta": (lambda number: json.dumps({"n": number}), "shown"),
    "objekt": (lambda number: {"n": number}, "left out"),
    "jahr": (lambda number: 1990 + number % 20, "left out"),
    "sprache": (lambda number: ("de", "en")[number % 2], "shown"),
    "zeile": (lambda number: number, "left out"),
    "leer": (lambda _: None, "left out"),
}


@pytest.mark.parametrize("labelled", [False, True], ids=["no labels", "labels"])
@pytest.mark.parametrize("items", [20, 200])
@pytest.mark.parametrize("name", STRANGE)
def test_a_column_that_is_no_model_is_in_doubt(name: str, items: int, labelled: bool) -> None:
    value, role = STRANGE[name]
    columns = models(items) | {name: [value(number) for number in range(items)]}
    if labelled:
        columns["label"] = models(items)["model-0"]
    assert doubts(columns) == {name: role}


# Four numbers may be classes.
@pytest.mark.parametrize("name", [name for name in STRANGE if name not in ("leer", "zeile")])
def test_four_rows_and_two_models_are_enough_for_most(name: str) -> None:
    columns = {"a": ["spam", "ham", "ham", "spam"], "b": ["ham", "ham", "spam", "spam"]}
    value, role = STRANGE[name]
    assert doubts(columns | {name: [value(number) for number in range(4)]}) == {name: role}


def test_all_strange_columns_together_are_in_doubt_and_no_model_is() -> None:
    columns = models(100) | {name: [value(row) for row in range(100)] for name, (value, _) in STRANGE.items()}
    assert doubts(columns) == {name: role for name, (_, role) in STRANGE.items()}


def plain_collections() -> dict[str, dict[str, Any]]:
    """Collections that must raise no doubt."""
    draw = np.random.default_rng(1)
    binary = models(500, 70, (0, 1))
    binary |= {f"always-{number}": [number % 2] * 500 for number in range(30)}
    silent = models(300, 5)
    for number, column in enumerate(silent.values()):
        for row in range(300):
            if draw.random() < 0.15 + 0.17 * number:
                column[row] = None
    letters = tuple("ABCDEFGHIJ")
    answers = models(20, 6, letters, seed=3)
    many = models(60, 5, tuple(range(1000)), seed=4)
    text = {
        f"llm-{number}": [f"Answer {row} in the words of {draw.integers(0, 10**9)}" for row in range(50)]
        for number in range(4)
    }
    return {
        "README's two rows": {
            "id": ["msg-1", "msg-2"],
            "text": ["You have won", "See you at noon"],
            "bert": ["spam", "ham"],
            "roberta": ["spam", "spam"],
            "gpt": ["spam", "ham"],
        },
        "one row": {"a": ["x"], "b": ["y"], "c": ["z"]},
        "ten-class questions, twenty rows": answers,
        "answers with a chatty model": models(20, 5, letters) | {"chatty": [*letters, *("A", "I'm not sure") * 5]},
        "binary, many bad ones": binary,
        "abstaining models": silent,
        "a model that hardly ever answers": models(300, 3) | {"shy": ["spam", "ham"] + [None] * 298},
        "integers from 1": models(100, 3, (1, 2, 3, 4, 5, 6)),
        "a thousand classes, few rows": many,
        "free text": text,
        "free text and gold answers": text | {"label": [f"gold {row}" for row in range(50)]},
        "short answers": models(40, 4, tuple(f"answer {number}" for number in range(200)), seed=5),
        "truth values": {name: [value == 1 for value in column] for name, column in models(50, 3, (0, 1)).items()},
        "numbers that are not whole, as all answers are": models(50, 3, (0.5, 1.25, 2.0, 7.75)),
        "one model": {"only": ["a", "b", "c"] * 10},
    }


@pytest.mark.parametrize("name", plain_collections())
def test_a_plain_collection_raises_no_doubt(name: str) -> None:
    assert doubts(plain_collections()[name]) == {}


@pytest.mark.parametrize("name", ["digits", "cifar10", "emocontext", "drift"])
def test_real_collections_raise_no_doubt_as_tables(name: str, tmp_path: Path) -> None:
    whole = mp.load_collection(name if name in ("digits", "cifar10") else need(name))
    some = whole.take(range(0, len(whole), max(1, len(whole) // 500)))
    bare = mp.ModelCollection.of_codes(some.predictions, some.labels, some.models, some.classes)
    for items in (5, 20, len(bare)):
        bare.take(range(items)).save(tmp_path / "x.csv")
        assert mp.load_collection(tmp_path / "x.csv").models == whole.models


def test_a_real_model_with_words_of_its_own_has_to_be_confirmed() -> None:
    columns = models(50) | {"odd": [f"I think it is {word}" for word in models(50)["model-0"]]}
    assert doubts(columns) == {"odd": "shown"}
    confirmed = guess(columns, columns={"odd": "model"})
    assert {column.role for column in confirmed.values()} == {"model"}
    assert not any(column.doubt for column in confirmed.values())


def test_a_constant_that_others_say_too_is_a_model_and_noted() -> None:
    columns = models(50) | {"always-ham": ["ham"] * 50}
    assert doubts(columns) == {}
    assert "always-ham always gives the same answer." in mp.load_collection(columns).notes


def test_labels_tell_which_columns_share_the_classes() -> None:
    pairs = {"source": ["de", "en"] * 20, "target-2": ["en", "de"] * 20}
    both = models(40, 2)
    found = doubts(pairs | both | {"label": both["model-0"]})
    assert found.keys() == pairs.keys()


def test_a_column_called_like_labels_is_guessed_to_be_the_label() -> None:
    columns = models(20)
    assert doubts(columns | {"truth": columns["model-0"]}) == {"truth": "label"}
    assert doubts(columns | {"truth": columns["model-0"], "label": columns["model-1"]}) == {"truth": "left out"}


def test_two_columns_of_classes_that_share_nothing_are_both_in_doubt() -> None:
    assert doubts({"a": ["cat", "dog"] * 10, "b": ["0", "one"] * 10}).keys() == {"a", "b"}


def flags(items: int, typed: bool, count: int = 4) -> dict[str, Any]:
    """Columns of true and false, which are no models."""
    draw = np.random.default_rng(7)
    told = {f"is_{'abcdefgh'[number]}": draw.random(items) < 0.5 for number in range(count)}
    return {name: [bool(one) if typed else str(bool(one)) for one in column] for name, column in told.items()}


@pytest.mark.parametrize("typed", [True, False], ids=["truth values", "text"])
@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("items", [6, 30, 300])
def test_two_groups_of_columns_that_share_nothing_are_both_in_doubt(items: int, count: int, typed: bool) -> None:
    animals = models(items, 2, ("cat", "dog", "owl"))
    columns = {"bert": animals["model-0"], "gpt": animals["model-1"]} | flags(items, typed, count)
    found = guess(columns)
    assert {name for name, column in found.items() if column.doubt} == set(columns)
    kept = {name for name, column in found.items() if column.role == "model"}
    assert kept in ({"bert", "gpt"}, set(columns) - {"bert", "gpt"})
    told = guess(columns | {"label": animals["model-0"]})
    assert {name for name, column in told.items() if column.doubt} == set(columns) - {"bert", "gpt"}
    assert doubts(columns, classes=["cat", "dog", "owl"]).keys() == set(columns) - {"bert", "gpt"}


def test_the_reasons_for_two_groups_name_the_other_group() -> None:
    animals = models(30, 2, ("cat", "dog", "owl"))
    found = guess({"bert": animals["model-0"], "gpt": animals["model-1"]} | flags(30, typed=False))
    assert found["bert"].doubt == (
        "None of its values occurs in the columns taken as models: is_a, is_b, is_c and is_d."
    )
    assert found["is_a"].doubt == "It shares hardly any value with bert and gpt, which may be the models instead."


def test_two_texts_or_two_constants_beside_models_leave_no_doubt_about_the_models() -> None:
    texts = {"frage": QUESTIONS[:50], "nochmal": QUESTIONS[:50]}
    constants = {"teil": ["test"] * 50, "phase": ["test"] * 50}
    found = guess(models(50) | texts | constants)
    assert {name for name, column in found.items() if column.doubt} == {*texts, *constants}
    assert found["teil"].doubt.startswith(
        'It is always "test", which does not occur in the columns taken as models'
    )


@pytest.mark.parametrize("labelled", [False, True], ids=["no labels", "labels"])
@pytest.mark.parametrize("classes", [WORDS, (0, 1, 2)], ids=["words", "numbers"])
@pytest.mark.parametrize("count", [1, 3, 60, 200])
def test_columns_of_scores_are_in_doubt_however_many_and_the_models_are_not(
    count: int, classes: tuple[object, ...], labelled: bool
) -> None:
    draw = np.random.default_rng(5)
    scores = {f"f{number}": draw.random(40).round(3).tolist() for number in range(count)}
    answers = models(40, 3, classes)
    columns = scores | answers | ({"label": answers["model-0"]} if labelled else {})
    assert doubts(columns) == dict.fromkeys(scores, "left out")
    assert mp.load_collection(columns, ignore=list(scores)).models == tuple(answers)


def test_models_that_work_out_numbers_are_not_taken_for_scores() -> None:
    draw = np.random.default_rng(6)
    truth = [*(number + 0.5 for number in range(20)), *range(20)]
    worked_out = {
        f"llm-{model}": [str(truth[row] if draw.random() < 0.9 else 99) for row in range(40)] for model in range(6)
    }
    for model in (0, 1, 2, 3):  # in most columns more than half of the numbers are not whole, in two of them fewer
        worked_out[f"llm-{model}"][-3:] = ["1.5", "2.5", "3.5"]
        worked_out[f"llm-{model}"][:20] = [str(one) for one in truth[:20]]
    for model in (4, 5):
        worked_out[f"llm-{model}"][19] = "7"
        worked_out[f"llm-{model}"][-1] = "7"
    assert doubts(worked_out) == {}


@pytest.mark.parametrize(
    "said",
    [
        {"models": ["model-0", "model-1"]},
        {"fields": ["frage"], "ignore": ["wert"]},
        {"columns": {"frage": "shown", "wert": "left out"}},
        {"id": "frage", "ignore": ["wert"]},
    ],
)
def test_what_the_user_says_is_not_asked_again(said: dict[str, Any]) -> None:
    columns = models(50) | {"frage": QUESTIONS[:50], "wert": [0.5] * 50}
    assert doubts(columns, **said) == {}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"ignore": ["nothing"]}, 'has no column "nothing"'),
        ({"columns": {"nothing": "model"}}, 'has no column "nothing"'),
        ({"columns": {"model-0": "king"}}, "'king' is not a role"),
        ({"ignore": ["model-0"], "models": ["model-0"]}, "both a model and left out"),
        ({"id": "model-0", "columns": {"model-1": "id"}}, "cannot both be the id"),
        ({"label": "model-0", "columns": {"model-1": "label"}}, "cannot both be the label"),
    ],
)
def test_roles_that_make_no_sense_are_refused(said: dict[str, Any], message: str) -> None:
    with pytest.raises(mp.InputError, match=message):
        guess(models(5), **said)


def test_the_error_names_each_column_and_the_options_and_carries_them_as_data(tmp_path: Path) -> None:
    rows = ["question,confidence,a,b", *(f"{QUESTIONS[row]},0.{row}5,x,y\nWhy?,0.{row}7,y,x" for row in range(4))]
    (tmp_path / "x.csv").write_text("\n".join(rows))
    with pytest.raises(mp.UnclearColumnsError) as caught:
        mp.load_collection(tmp_path / "x.csv")
    said = str(caught.value)
    assert 'x.csv, column "question": The name suggests that it is not a model.' in said
    advice = "(in Python: mp.load_collection(…, fields=['question'], ignore=['confidence']))"
    assert f"--fields question --ignore confidence {advice}." in said
    assert [(column["name"], column["role"]) for column in caught.value.columns] == [
        ("question", "shown"),
        ("confidence", "left out"),
    ]
    read = mp.load_collection(tmp_path / "x.csv", fields=["question"], ignore=["confidence"])
    assert read.models == ("a", "b")
    assert list(read.fields) == ["question"]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "npz"])
def test_our_own_files_raise_no_doubt(tmp_path: Path, ending: str) -> None:
    columns = models(30, 2) | {"odd": ["never heard of"] * 30}
    whole = mp.load_collection(columns, models=list(columns))
    whole.save(tmp_path / f"x.{ending}")
    assert mp.load_collection(tmp_path / f"x.{ending}").models == ("model-0", "model-1", "odd")


def test_the_long_form_raises_no_doubt_and_takes_roles(tmp_path: Path) -> None:
    rows = [f"{item},{model},{model}-{item},q{item}" for item in range(30) for model in ("a", "b", "c")]
    (tmp_path / "x.csv").write_text("\n".join(["item,model,prediction,question", *rows]))
    assert mp.load_collection(tmp_path / "x.csv").models == ("a", "b", "c")
    chosen = mp.load_collection(tmp_path / "x.csv", columns={"b": "left out", "question": "left out"})
    assert chosen.models == ("a", "c")
    assert list(chosen.fields) == ["item"]


def test_a_preview_does_not_fail_on_a_doubt(tmp_path: Path) -> None:
    long = "word " * 100
    (tmp_path / "x.csv").write_text(f'id,question,a,b,meta\n1,{long},x,y,\n2,"B?",y,y,"[1]"\n3,C?,x,x,"[2]"\n')
    seen = preview_collection(tmp_path / "x.csv")
    assert [column.role for column in seen.columns] == ["id", "shown", "model", "model", "shown"]
    assert [bool(column.doubt) for column in seen.columns] == [False, True, False, False, True]
    assert seen.rows[1] == {"id": "2", "question": "B?", "a": "y", "b": "y", "meta": "[1]"}
    assert len(str(seen.rows[0]["question"])) == 200
    assert seen.rows[0]["meta"] is None
    assert seen.collection is not None
    assert seen.collection.models == ("a", "b")
    again = preview_collection(tmp_path / "x.csv", Reading(columns={"question": "left out", "meta": "shown"}))
    assert not any(column.doubt for column in again.columns)


def test_how_a_file_is_read_is_said_by_the_same_names_everywhere() -> None:
    """The object has what the functions take and what the command line asks for, with the same defaults."""
    later = ("labels_elsewhere", "same_later")  # which follow from other arguments
    known = {name: one for name, one in inspect.signature(Reading).parameters.items() if name not in later}
    for function in (mp.open_collection, mp.load_collection):
        taken = {
            name: one.default
            for name, one in inspect.signature(function).parameters.items()
            if one.kind is inspect.Parameter.KEYWORD_ONLY
        }
        assert list(taken) == list(known)
        assert Reading(**taken | {"columns": {}}) == Reading()
    typed = {name.removesuffix("_column") for name in READING}
    assert typed == set(known) - {"columns"}  # which a person is asked for
    for verb in (bounds, compare, convert, pick, show):
        parameters = inspect.signature(verb).parameters
        assert [name for name in READING if name not in parameters] == []
        assert "reading" not in parameters
    assert Reading(**how_to_read(**{name: parameters[name].default for name in READING})) == Reading()
