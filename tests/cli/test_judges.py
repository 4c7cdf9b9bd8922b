"""`pick --judge` and `--warm`, and campaigns with a judge, at the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from tests.campaigns.pools import collection
from tests.cli.running import run
from tests.judging import FIRST_IS_QUICK, judge_of, labels_of, with_column, write_csv

JOURNAL = "x.pool.jsonl"


def written(folder: Path, kind: str = "good", *, labelled: bool = True, items: int = 80) -> mp.ModelCollection:
    """x.csv, whose column `gpt` holds what a judge says; the items."""
    found = collection(items)
    said = judge_of(kind, labels_of(found))
    write_csv(folder / "x.csv", with_column(found, said), labelled=labelled)
    return found


def asked(folder: Path, *arguments: str, answers: str = "") -> dict[str, Any]:
    done = run("pick", "x.csv", "--json", *arguments, answers=answers, folder=folder)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def typed(items: mp.ModelCollection, order: list[int]) -> str:
    labels = labels_of(items)
    # A class that no model says is new: it is typed, and confirmed.
    return "".join("s\n" if labels[item] == "toast" else f"{labels[item]}\n" for item in order)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / JOURNAL).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("kind", FIRST_IS_QUICK)
def test_looked_up_it_is_what_the_library_picks_and_the_report_plays_it_again(tmp_path: Path, kind: str) -> None:
    written(tmp_path, kind)
    told = asked(tmp_path, "--judge", "gpt", "--tolerance", "0.05", "--out", "r.jsonl")
    here = mp.pick(tmp_path / "x.csv", judge="gpt", tolerance=0.05)
    assert here.judge is not None
    assert (told["pick"], told["labels_used"]) == (here.model, here.labels_used)
    assert told["judge"] == here.judge.document()
    assert "gpt" not in {entry["model"] for entry in told["standing"]}
    done = run("report", "r.jsonl", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["judge"] == told["judge"]
    page = (tmp_path / "pick.html").read_text(encoding="utf-8")
    assert here.judge.sentence in page
    assert "--judge gpt" in page
    assert "--fields" not in page


@pytest.mark.parametrize("kind", FIRST_IS_QUICK)
def test_a_person_goes_on_with_the_same_judge_and_does_not_see_it(tmp_path: Path, kind: str) -> None:
    items = written(tmp_path, kind, labelled=False)
    said = judge_of(kind, labels_of(items))
    pool = mp.PoolPicker(collection(80, labelled=False), judge=said)
    order = []
    for _ in range(6):
        order += pool.ask(1)
        label = labels_of(items)[order[-1]]
        pool.tell(order[-1], None if label == "toast" else label)
    first = run("pick", "x.csv", "--judge", "gpt", answers=typed(items, order[:3]) + "q\n", folder=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "gpt:" not in first.stderr
    assert f"judge: gpt says something about {sum(one in pool.classes for one in said)} of 80 items" in first.stderr
    told = asked(tmp_path, answers=typed(items, order[3:]) + "q\n")  # the journal knows the judge
    assert [line["item"] for line in lines(tmp_path)[1:]] == order
    assert lines(tmp_path)[0]["judge"] == "gpt"
    again = asked(tmp_path, "--judge", "gpt", answers="q\n")
    assert again["judge"] == told["judge"]
    assert told["judge"]["labels"] + told["judge"]["silent"] == told["labels_used"] == pool.labels_used
    done = run("report", JOURNAL, "--json", folder=tmp_path)
    assert json.loads(done.stdout)["judge"] == told["judge"]


def test_a_journal_goes_on_with_no_other_judge(tmp_path: Path) -> None:
    written(tmp_path, labelled=False)
    asked(tmp_path, "--judge", "gpt", answers="ham\nq\n")
    other = run("pick", "x.csv", "--judge", "text", answers="q\n", folder=tmp_path)
    assert other.returncode == 4
    assert (
        "it was started with --judge gpt, here it is --judge text. Leave --judge out to continue." in other.stderr
    )
    table = [line.split(",") for line in (tmp_path / "x.csv").read_text().splitlines()]
    for row in table[1:]:
        row[table[0].index("gpt")] = "ham"
    (tmp_path / "x.csv").write_text("".join(",".join(row) + "\n" for row in table))
    moved = run("pick", "x.csv", answers="q\n", folder=tmp_path)
    assert moved.returncode == 4
    assert "says something else than when it was started" in " ".join(moved.stderr.split())
    assert run("report", JOURNAL, folder=tmp_path).returncode == 4


def test_a_journal_that_was_begun_without_a_judge_gets_none(tmp_path: Path) -> None:
    written(tmp_path, labelled=False)
    asked(tmp_path, "--fields", "gpt", answers="ham\nq\n")
    other = run("pick", "x.csv", "--judge", "gpt", answers="q\n", folder=tmp_path)
    assert other.returncode == 4
    assert "it was started without a judge" in other.stderr
    assert asked(tmp_path, answers="q\n")["judge"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--judge", "gtp"), 1, 'no column "gtp"'),
        (("--judge", "gpt", "--as", "stream"), 2, "only a pool can use a judge"),
        (("--judge", "gpt", "--algorithm", "race"), 2, "only a pool can use a judge"),
        (("--warm", "w.csv", "--as", "stream"), 2, "only a pool can use labels"),
        (("--warm", "nowhere.csv"), 3, "nowhere.csv"),
        (("--judge", "gpt", "--models", "ant,bee,gpt"), 1, "cannot be both"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    written(tmp_path)
    (tmp_path / "w.csv").write_text("id,label\nitem 1,ham\n")
    done = run("pick", "x.csv", *arguments, folder=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in " ".join(done.stderr.split())


def test_labels_that_exist_already_are_told_first_and_are_not_bought(tmp_path: Path) -> None:
    items = written(tmp_path)
    labels = labels_of(items)
    warm = [f"item {place},{labels[place]}" for place in range(0, 80, 4)]
    (tmp_path / "w.csv").write_text("id,label\n" + "".join(f"{line}\n" for line in warm))
    told = asked(tmp_path, "--warm", "w.csv", "--tolerance", "0.05", "--out", "r.jsonl", "--fields", "gpt")
    here = mp.pick(items, warm=tmp_path / "w.csv", tolerance=0.05)
    assert (told["labels_used"], told["references"], told["pick"]) == (here.labels_used, 20, here.model)
    done = run("pick", "x.csv", "--warm", "w.csv", "--tolerance", "0.05", "--fields", "gpt", folder=tmp_path)
    assert f"{here.labels_used} labels bought, 20 given." in done.stdout
    page = json.loads(run("report", "r.jsonl", "--json", folder=tmp_path).stdout)
    assert (page["labels_used"], page["references"]) == (here.labels_used, 20)
    assert "--warm w.csv" in (tmp_path / "pick.html").read_text(encoding="utf-8")


def test_a_person_is_not_asked_for_labels_that_exist_already(tmp_path: Path) -> None:
    items = written(tmp_path, labelled=False)
    labels = labels_of(items)
    (tmp_path / "w.csv").write_text("id,label\n" + "".join(f"item {n},{labels[n]}\n" for n in range(0, 80, 4)))
    warm = ("--warm", "w.csv", "--fields", "gpt")
    first = asked(tmp_path, *warm, "--budget", "2", answers="ham\nham\n")
    assert (first["labels_used"], first["references"], first["stopped"]) == (2, 20, "budget")
    given = [line for line in lines(tmp_path)[1:] if line.get("given")]
    assert (len(given), given[0]) == (20, {"item": 0, "label": labels[0], "known": True, "given": True})
    again = asked(tmp_path, *warm, "--budget", "3", answers="u\negg\negg\n")  # the last answer, never a given one
    assert (again["labels_used"], again["references"], again["stopped"]) == (3, 20, "budget")
    assert [line["label"] for line in lines(tmp_path)[21:]] == ["ham", "egg", "egg"]
    report = json.loads(run("report", JOURNAL, "--json", folder=tmp_path).stdout)
    assert (report["labels_used"], report["references"]) == (3, 20)
    assert report["cost"].startswith("3 labels were bought; 20 more labels are known without asking.")


# Campaigns.


def test_a_campaign_is_made_with_a_judge_and_with_labels_that_exist_already(tmp_path: Path) -> None:
    items = written(tmp_path, labelled=False)
    labels = labels_of(items)
    (tmp_path / "w.csv").write_text("id,label\n" + "".join(f"item {n},{labels[n]}\n" for n in range(0, 80, 4)))
    url = f"sqlite:///{tmp_path}/c.db"
    storage = ("--storage", url)
    made = run("create", "x", "--pool", "x.csv", "--judge", "gpt", "--warm", "w.csv", *storage, folder=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "20 labels given are used." in made.stderr
    asked_for = run("label", "x", *storage, answers="ham\nq\n", folder=tmp_path)
    assert "text:" in asked_for.stderr
    assert "gpt:" not in asked_for.stderr
    best = run("best", "x", *storage, folder=tmp_path)
    assert "The judge agreed with " in best.stdout
    told = json.loads(run("best", "x", "--json", *storage, folder=tmp_path).stdout)
    assert (told["labels_used"], told["references"]) == (1, 20)
    assert told["judge"]["labels"] + told["judge"]["silent"] == 21
    line = {"predictions": ["ham", "egg", "ham", "ham"], "item": {"gpt": "egg", "text": "new"}, "key": "new"}
    run("ask", "x", *storage, answers=json.dumps(line) + "\n", folder=tmp_path)
    with mp.open_campaign(url, "x") as campaign:
        kinds = {record["kind"]: record for record in campaign.history("new")}
    assert (kinds["item"]["judge"], kinds["fields"]["item"]) == ("egg", {"text": "new"})
    refused = run("create", "s", "--models", "a,b", "--judge", "gpt", *storage, folder=tmp_path)
    assert refused.returncode == 2
    assert "--judge" in refused.stderr


def test_labels_that_come_later_do_not_change_what_the_judge_said(tmp_path: Path) -> None:
    """A label may bring a class that no model says, and that the judge spelt in its own way."""
    rows = "".join(f"{n},{'ham,spam' if n % 2 else 'spam,ham'},Toast!\n" for n in range(20))
    (tmp_path / "x.csv").write_text(f"id,a,b,gpt\n{rows}")
    asked(tmp_path, "--judge", "gpt", answers="ham\nq\n")
    (tmp_path / "l.csv").write_text("id,label\n3,toast\n4,ham\n")
    again = asked(tmp_path, "--ask", "--labels", "l.csv", answers="q\n")
    assert again["labels_known"] == 2
