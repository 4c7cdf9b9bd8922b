"""Export and import: the same campaign comes out at the other end, or nothing does."""

import json
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.campaigns.export import export_campaign, import_campaign
from tests.campaigns.streams import MODELS, check, play, rebuilt, state, stream


def eventful(url: str) -> mp.Campaign:
    """A campaign in which everything happened that can happen."""
    campaign = mp.create_campaign(
        url, "eventful", models=MODELS, classes=[0, 1, 2, 3], seed=1, budget=60, expected_rounds=200
    )
    predictions, labels = stream(60)
    for number, row in enumerate(predictions[:30].tolist()):
        decision = campaign.ask(row, item={"number": number, "odd": "\ud800\n"}, key=f"k{number}")
        campaign.tell(decision.id, int(labels[decision.id]), annotator="ann" if number % 2 else None)
    campaign.ask_many(predictions[30:], items=[None, {"x": 1.5}] * 15)
    waiting = [query.id for query in campaign.pending()]
    campaign.skip(waiting[0])
    campaign.tell(waiting[1], 0)
    campaign.tell(waiting[1], 1, replace=True)
    campaign.retract(waiting[1])
    campaign.join("eel")
    campaign.leave("bee")
    play(campaign, *stream(20, seed=5))
    campaign.skip(campaign.pending()[0].id)
    return campaign


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_round_trip_gives_an_identical_campaign(url: str, tmp_path: Path, ending: str) -> None:
    campaign = eventful(url)
    path = tmp_path / f"out.{ending}"
    records = export_campaign(campaign, path)
    assert records == len(list(campaign.history()))
    twin = import_campaign(f"sqlite:///{tmp_path}/other.db", path)
    assert list(twin.history()) == list(campaign.history())
    assert (twin.settings, twin.created, twin.name) == (campaign.settings, campaign.created, campaign.name)
    assert state(twin) == state(campaign) == rebuilt(twin)
    assert twin.pending() == campaign.pending()
    more, labels = stream(30, seed=8)
    assert play(twin, more, labels) == play(campaign, more, labels)
    check(twin, f"sqlite:///{tmp_path}/other.db")
    twin.storage.close()


def test_corrections_told_together_with_first_labels_come_out_the_same(memory: str, tmp_path: Path) -> None:
    campaign = mp.create_campaign(memory, "together", models=4, seed=0)
    campaign.ask_many(stream(300)[0])
    waiting = [query.id for query in campaign.pending()]
    campaign.tell_many([(number, 0) for number in waiting[50:]])
    campaign.tell_many([(waiting[-1], 1), *((number, 0) for number in waiting[:50])], replace=True)
    check(campaign, memory)
    export_campaign(campaign, tmp_path / "out.jsonl")
    assert state(import_campaign(memory, str(tmp_path / "out.jsonl"), "copy")) == state(campaign)


def test_an_import_may_have_another_name_and_never_overwrites(url: str, tmp_path: Path) -> None:
    campaign = eventful(url)
    path = tmp_path / "out.jsonl"
    export_campaign(campaign, path)
    with pytest.raises(mp.ConflictError, match="there already is a campaign 'eventful'"):
        import_campaign(url, path)
    assert import_campaign(url, path, "copy").best() == campaign.best()


def test_an_empty_campaign_can_be_moved(memory: str, tmp_path: Path) -> None:
    campaign = mp.create_campaign(memory, "empty", models=2)
    for ending in ("jsonl", "parquet"):
        export_campaign(campaign, tmp_path / f"out.{ending}")
        assert import_campaign(memory, tmp_path / f"out.{ending}", ending).best().rounds == 0


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda lines: lines[:1] + lines[2:], "round 0 was expected|event 2 comes where event 1"),
        (lambda lines: [*lines[:-1], lines[-1][:20]], "is not JSON.*cut off"),
        (lambda lines: lines[1:], "not a campaign that modelpicker exported"),
        (lambda lines: [], "not a campaign that modelpicker exported"),
        (lambda lines: [lines[0].replace("model-picker", "os:system"), *lines[1:]], "there is no algorithm"),
        (lambda lines: [lines[0].replace('"seed": "1"', '"seed": "x"'), *lines[1:]], "settings cannot be read"),
        (
            lambda lines: [lines[0], lines[1].replace('"predictions"', '"nothing"'), *lines[2:]],
            "event 1 cannot be read",
        ),
        (lambda lines: [lines[0], lines[1].replace('"ask"', '"think"'), *lines[2:]], "no events of kind 'think'"),
        (lambda lines: [*lines, json.dumps({"event": 10**6})], "comes where event"),
        (lambda lines: [*lines, "[]"], "is not a record|should be"),
        (lambda lines: lines[:-1], "there should be"),
        (lambda lines: [lines[0], "[" * 100_000], "is not JSON"),
        (lambda lines: [line.replace('"heir_of": "', '"heir_of": "no ') for line in lines], "cannot join there"),
        (
            lambda lines: [line.replace('"replaces": true', '"replaces": false') for line in lines],
            "cannot have had",
        ),
        (
            lambda lines: [line.replace('"kind": "label"', '"kind": "reference"') for line in lines],
            "cannot have had",
        ),
        (lambda lines: [lines[0].replace('"budget": 60', '"budget": 6'), *lines[1:]], "match their checksum"),
        (
            lambda lines: [
                lines[0].replace('"budget": 60', '"budget": 6').replace('"checksum"', '"older"'),
                *lines[1:],
            ],
            "more labels were bought",
        ),
        (lambda lines: [lines[0].replace('"budget": 60', '"budget": -6'), *lines[1:]], "budget=-6 is not a count"),
        (
            lambda lines: [lines[0], lines[1].replace('"probability": ', '"probability": 9'), *lines[2:]],
            "probability",
        ),
    ],
)
def test_a_damaged_file_is_refused_and_leaves_nothing_behind(
    memory: str, tmp_path: Path, spoil: object, complaint: str
) -> None:
    path = tmp_path / "out.jsonl"
    export_campaign(eventful(memory), path)
    path.write_text("\n".join(spoil(path.read_text().splitlines())))  # type: ignore[operator]
    with pytest.raises(mp.ModelPickerError, match=complaint):
        import_campaign(memory, path, "copy")
    assert [one.name for one in mp.list_campaigns(memory)] == ["eventful"]


def test_files_of_other_kinds_are_refused(memory: str, tmp_path: Path) -> None:
    campaign = mp.create_campaign(memory, "kinds", models=2)
    with pytest.raises(mp.InputError, match=r"\.jsonl or \.parquet"):
        export_campaign(campaign, tmp_path / "out.csv")
    with pytest.raises(mp.NotFoundError, match="there is no file"):
        import_campaign(memory, tmp_path / "no.jsonl")
    (tmp_path / "bad.parquet").write_bytes(b"no parquet")
    with pytest.raises(mp.InputError, match="not a Parquet file"):
        import_campaign(memory, tmp_path / "bad.parquet")
    (tmp_path / "bad.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(mp.InputError, match="not UTF-8"):
        import_campaign(memory, tmp_path / "bad.jsonl")
    with pytest.raises(mp.FileError, match="cannot be written"):
        export_campaign(campaign, tmp_path / "no folder" / "out.jsonl")
