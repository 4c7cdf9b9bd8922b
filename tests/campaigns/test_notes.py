"""Notes and flags: what people say about an item beside its label; nothing is learned from them."""

from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.storage.verify import verify

MODELS = ["bert", "gpt"]
ROWS = [["spam", "ham"], ["ham", "spam"], ["spam", "ham"], ["ham", "ham"]]
KEYS = ["a", "b", "c", "d"]
ALWAYS: dict[str, Any] = {"algorithm": "label-efficient", "options": {"probability": 1.0}}


def campaign_on(kind: str, url: str) -> mp.Campaign:
    """A stream or a pool with three questions about which nobody has said anything."""
    items = [{"text": f"message {key}"} for key in KEYS]
    if kind == "stream":
        campaign = mp.create_campaign(url, "noted", models=MODELS, **ALWAYS)
        campaign.ask_many(ROWS, items=items, keys=KEYS)
        return campaign
    campaign = mp.create_campaign(url, "noted", pool=mp.ModelCollection(ROWS[:3], models=MODELS))
    assert len(campaign.pending(3)) == 3
    return campaign


def noted(campaign: mp.Campaign) -> list[tuple[int, str, bool, str | None]]:
    return [(note.id, note.text, note.flagged, note.by) for note in campaign.notes()]


@pytest.mark.parametrize("kind", ["stream", "pool"])
def test_a_note_is_kept_whatever_becomes_of_the_answer(url: str, kind: str, tmp_path: Path) -> None:
    campaign = campaign_on(kind, url)
    before = campaign.best()
    campaign.note(0, " Is this one message? ", annotator="mia")
    campaign.tell(0, "spam", annotator="mia")
    campaign.note(0, "Is this one message?", flagged=True, annotator="mia")  # afterwards, too
    campaign.note(0, flagged=True, annotator="tom")
    campaign.note(1, "unanswered", annotator="mia")
    campaign.skip(2, annotator="mia")
    expected = [(1, "unanswered", False, "mia"), (0, "", True, "tom"), (0, "Is this one message?", True, "mia")]
    assert noted(campaign) == expected
    campaign.retract(0)
    campaign.tell(0, "ham", annotator="mia")
    assert noted(campaign) == expected
    answers = {one.id: one for one in campaign.labels()}
    assert [note.by for note in answers[0].notes] == ["mia", "tom"]
    assert (answers[0].flagged, answers[2].flagged, answers[2].notes) == (True, False, ())
    assert [record["kind"] for record in campaign.history(1)][-1] == "note"
    for ending in ("jsonl", "parquet"):
        campaign.export(tmp_path / f"noted.{ending}")
        again = mp.import_campaign(f"memory://{tmp_path.name}-{kind}-{ending}", tmp_path / f"noted.{ending}")
        assert again.notes() == campaign.notes()
        assert again.labels() == campaign.labels()
        assert again.best() == campaign.best()
    opened = mp.open_campaign(url, "noted")
    assert noted(opened) == expected
    assert verify(opened).wrong == []
    for number in (0, 2):
        campaign.retract(number)
    assert campaign.best().standing == before.standing


def test_the_last_note_of_a_person_holds_and_an_empty_one_takes_it_back(memory: str) -> None:
    campaign = campaign_on("stream", memory)
    campaign.note("a", "first", annotator="mia/4f2c81aa")
    events = campaign.events
    campaign.note("a", "first", annotator="mia/00000000")  # the same from another tab
    assert campaign.events == events
    campaign.note("a", "second", flagged=True, annotator="mia/00000000")
    assert noted(campaign) == [(0, "second", True, "mia/00000000")]
    assert campaign.own_notes([0, 1], "mia/4f2c81aa")[0].text == "second"
    assert campaign.own_notes([0, 1], "tom") == campaign.own_notes([], "mia") == {}
    campaign.note("a", annotator="mia/4f2c81aa")
    assert noted(campaign) == []
    campaign.note("a")
    campaign.note("a", "by nobody")
    assert noted(campaign) == [(0, "by nobody", False, None)]


def test_flagged_items_are_found_answered_or_not(memory: str) -> None:
    campaign = campaign_on("stream", memory)
    campaign.tell(0, "spam", annotator="mia")
    campaign.tell(2, "spam", annotator="tom")
    campaign.note(0, "Wrong LANGUAGE", annotator="mia")
    campaign.note(1, "nobody knows", flagged=True, annotator="mia")
    campaign.note(2, flagged=True, annotator="tom")

    def found(**wanted: Any) -> list[tuple[int, str]]:
        return [(one.id, one.state) for one in campaign.labels(mp.LabelFilter(**wanted))]

    assert found(flagged=True) == [(1, "waiting"), (2, "labelled")]
    assert found(flagged=False) == [(0, "labelled")]
    campaign.finish()
    assert found(flagged=True) == [(1, "withdrawn"), (2, "labelled")], "also what nobody need answer any more"
    campaign.revise(finished=False)
    assert found(flagged=True, annotator="tom") == [(2, "labelled")]
    assert found(search="language") == [(0, "labelled")]
    assert found() == [(2, "labelled"), (0, "labelled")]
    waiting = campaign.labels(mp.LabelFilter(flagged=True, state="waiting"))[0]
    assert (waiting.label, waiting.by, waiting.at) == (None, None, waiting.notes[0].at)


def test_bad_notes_are_refused_and_change_nothing(memory: str) -> None:
    campaign = campaign_on("stream", memory)
    before = campaign.events
    bad: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (0, {"text": "x" * 2_001}, mp.InputError, "2,001 characters; pass at most 2,000"),
        (0, {"text": 7}, mp.InputError, "note 7: pass text"),
        (0, {"text": "\ud800"}, mp.InputError, "half a character"),
        (0, {"flagged": 1}, mp.InputError, "flagged=1: pass True or False"),
        (0, {"annotator": ""}, mp.InputError, "annotator"),
        (4, {"text": "x"}, mp.NotFoundError, "no round 4"),
        ("z", {"text": "x"}, mp.NotFoundError, "nothing was asked with the key 'z'"),
        (None, {"text": "x"}, mp.InputError, "pass the id of a decision"),
        (3, {"text": "x"}, mp.ConflictError, "nobody was asked about round 3"),
    ]
    for id_, given, error, words in bad:
        with pytest.raises(error, match=words):
            campaign.note(id_, **given)
    campaign.revise(archived=True)
    with pytest.raises(mp.ConflictError, match="archived"):
        campaign.note(0, "late")
    assert campaign.events == before + 1


def test_a_file_with_a_note_that_cannot_be_is_refused(memory: str, tmp_path: Path) -> None:
    campaign = campaign_on("stream", memory)
    campaign.note(0, "here")
    campaign.export(tmp_path / "right.jsonl")
    right = (tmp_path / "right.jsonl").read_text()
    for wrong in ('"id": 3, "text"', '"id": 9, "text"', '"id": "a", "text"'):
        (tmp_path / "wrong.jsonl").write_text(right.replace('"id": 0, "text"', wrong))
        with pytest.raises(mp.InputError, match="round"):
            mp.import_campaign(memory, tmp_path / "wrong.jsonl", "other")
    (tmp_path / "wrong.jsonl").write_text(right.replace('"flagged": false', '"flagged": "no"'))
    with pytest.raises(mp.InputError, match="flagged"):
        mp.import_campaign(memory, tmp_path / "wrong.jsonl", "other")


def test_labels_are_counted_for_each_person_as_they_hold(url: str) -> None:
    campaign = campaign_on("stream", url)
    other = mp.open_campaign(url, "noted")  # as another server has it

    def counted(person: str) -> tuple[int, int]:
        return campaign.labels_by(person), other.labels_by(person)

    assert counted("mia") == (0, 0)
    campaign.tell(0, "spam", annotator="mia/4f2c81aa")
    other.tell(1, "spam", annotator="mia/desk 2")
    campaign.skip(2, annotator="mia")
    campaign.tell(3, "ham", annotator="mia")  # nobody asked
    assert counted("mia") == counted("mia/00000000") == (2, 2)
    assert counted("page-4f2c81aa") == counted("mi") == (0, 0)
    campaign.tell(0, "ham", replace=True, annotator="tom")
    assert counted("mia") == counted("tom") == (1, 1)
    other.retract(1)
    assert counted("mia") == (0, 0)
    assert mp.open_campaign(url, "noted").labels_by("tom") == 1


def test_labels_that_are_undone_with_their_group_are_not_counted(memory: str) -> None:
    campaign = campaign_on("stream", memory)
    campaign.tell(0, "spam", annotator="mia")
    assert campaign.labels_by("mia") == 1

    def broken_off() -> None:
        with campaign.together():
            campaign.tell(1, "spam", annotator="mia")
            assert campaign.labels_by("mia") == 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert campaign.labels_by("mia") == 1
    campaign.tell(1, "ham", annotator="tom")
    assert (campaign.labels_by("mia"), campaign.labels_by("tom")) == (1, 1)


def test_a_name_tells_who_the_person_is() -> None:
    people = {
        "mia": "mia",
        "mia-4f2c81aa": "mia-4f2c81aa",
        "mia/tom-4f2c81aa": "mia",
        "mia-2": "mia-2",
        "page-4f2c81aa": "page-4f2c81aa",
        "/odd": "/odd",
        "a\nb/4f2c81aa": "a\nb",
    }
    assert {name: person_of(name) for name in people} == people
