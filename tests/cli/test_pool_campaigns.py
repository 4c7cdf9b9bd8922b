"""A campaign on a pool from the command line: created from a file, labelled until it is proven, told, added to."""

import json
import re
import subprocess
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.campaigns.storage.database import open_storage
from tests.campaigns.pools import collection, truth
from tests.campaigns.servers import Server
from tests.cli.campaigning import call, document, lines
from tests.cli.test_columns import at_terminal

ITEMS = 120


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with items.csv and more.csv, which have labels, and a pool of the first."""
    collection(ITEMS).save(tmp_path / "items.csv")
    collection(30, 1, ITEMS).save(tmp_path / "more.csv")
    assert call(tmp_path, "create", "tickets", "--pool", "items.csv", "--tolerance", "0.02").returncode == 0
    return tmp_path


def opened(folder: Path, name: str = "tickets") -> mp.Campaign:
    return mp.open_campaign(f"sqlite:///{folder}/modelpicker.db", name)


def asked_in(said: str) -> list[int]:
    """The items that were shown, in order."""
    return [int(number) for number in re.findall(r"text: text (\d+)", said)]


def session(folder: Path, *typed: str, more: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    done = call(folder, "label", "tickets", *more, typed="".join(f"{line}\n" for line in typed))
    assert done.returncode == 0, done.stderr
    return done


def truths(folder: Path, most: int = ITEMS) -> list[str]:
    """What a person types who knows all labels: the questions are those of a campaign with the same seed."""
    items = collection(ITEMS)
    with mp.create_campaign(
        "memory://", "same", pool=mp.load_collection(folder / "items.csv"), tolerance=0.02
    ) as one:
        said: list[str] = []
        while len(said) < most and (queries := one.pending(1)):
            said.append(truth(items, queries[0].id))
            one.tell(queries[0].id, said[-1])
    return said


class TestCreate:
    """A file becomes a pool."""

    def test_it_says_what_there_is_and_what_to_do_next(self, folder: Path) -> None:
        done = call(folder, "create", "two", "--pool", "items.csv", "--budget", "50", "--confidence", "0.9")
        assert "Created two in sqlite:///" in done.stderr
        assert ": 120 items." in done.stderr
        assert "120 labels in the file are left out. (To use them: --use-labels)" in done.stderr
        assert "Goal: within 1% of the best model, confidence 90%, with at most 50 labels." in done.stderr
        assert "`modelpicker label two`" in done.stderr
        assert done.stdout == ""

    def test_it_is_the_campaign_that_the_library_makes(self, folder: Path) -> None:
        made = document(
            folder, "create", "two", "--pool", "items.csv", "--models", "ant,dog", "--seed", "7", "--budget", "9"
        )
        assert (made["models"], made["seed"], made["budget"]) == (["ant", "dog"], 7, 9)
        assert made["algorithm"] == "pool-picker"
        url = f"sqlite:///{folder}/same.db"
        with mp.create_campaign(
            url, "two", pool=mp.load_collection(folder / "items.csv", models=["ant", "dog"]), seed=7, budget=9
        ) as same:
            assert [one.id for one in opened(folder, "two").pending(5)] == [one.id for one in same.pending(5)]

    def test_a_file_is_read_as_is_said(self, folder: Path) -> None:
        (folder / "odd.csv").write_text(
            "nr,what,gold,bert,gpt,junk\n"
            + "".join(f"n{n},t{n},ham,{'ham' if n % 2 else 'spam'},ham,x\n" for n in range(9))
        )
        options = ("--label", "gold", "--id", "nr", "--models", "bert,gpt", "--ignore", "junk", "--use-labels")
        made = document(folder, "create", "odd", "--pool", "odd.csv", *options)
        assert (made["references"], made["certified"]) == (9, True)
        campaign = opened(folder, "odd")
        assert campaign.label_of("n4") == "ham"
        record = next(one for one in campaign.history("n4") if one["kind"] == "fields")
        assert record["item"] == {"nr": "n4", "what": "t4"}

    @pytest.mark.slow
    def test_at_a_terminal_it_says_what_it_is_doing(self, folder: Path) -> None:
        code, said = at_terminal(folder, b"", "create", "two", "--pool", "items.csv")
        assert code == 0
        phases = (
            "Reading items.csv",
            "Finding the items on which models differ",
            "Comparing the models",
            "Created",
        )
        places = [said.find(phase) for phase in phases]
        assert -1 not in places
        assert places == sorted(places)

    def test_what_is_certified_from_the_start_says_so(self, folder: Path) -> None:
        done = call(folder, "create", "known", "--pool", "items.csv", "--use-labels")
        assert "120 labels of the file are used." in done.stderr
        assert "Certified:" in done.stderr
        assert "`modelpicker report known`" in done.stderr
        assert "label known" not in done.stderr

    @pytest.mark.parametrize(
        "option",
        [
            ("--algorithm", "race"),
            ("--option", "window=3"),
            ("--kind", "stream"),
            ("--expected-rounds", "10"),
            ("--budget-way", "cap"),
        ],
    )
    def test_an_option_of_streams_is_refused_by_its_name(self, folder: Path, option: tuple[str, ...]) -> None:
        done = call(folder, "create", "two", "--pool", "items.csv", *option)
        assert done.returncode == 2
        assert f"{option[0]}: it is for streams; leave it out with --pool" in " ".join(done.stderr.split())
        assert len(document(folder, "list")["campaigns"]) == 1

    @pytest.mark.parametrize(
        "option",
        [("--use-labels",), ("--label", "x"), ("--id", "x"), ("--fields", "x"), ("--text",), ("--normalise",)],
    )
    def test_an_option_of_files_is_refused_without_a_file(self, folder: Path, option: tuple[str, ...]) -> None:
        done = call(folder, "create", "two", "--models", "a,b", *option)
        assert done.returncode == 2
        assert f"{option[0]}: it goes with --pool FILE only" in " ".join(done.stderr.split())

    def test_without_models_and_without_a_file_both_ways_are_named(self, folder: Path) -> None:
        done = call(folder, "create", "two")
        assert done.returncode == 2
        assert "--models bert,roberta; or --pool" in " ".join(done.stderr.split())

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            (("two", "--pool", "none.csv"), 3),
            (("tickets", "--pool", "items.csv"), 4),
            (("two/three", "--pool", "items.csv"), 1),
            (("two", "--pool", "items.csv", "--models", "ant"), 1),
            (("two", "--pool", "items.csv", "--models", "ant,elk"), 1),
            (("two", "--pool", "items.csv", "--classes", "ham,spam"), 1),
            (("two", "--pool", "items.csv", "--tolerance", "1"), 1),
        ],
    )
    def test_what_cannot_be_made_leaves_nothing(self, folder: Path, arguments: tuple[str, ...], code: int) -> None:
        assert call(folder, "create", *arguments).returncode == code
        assert [one["name"] for one in document(folder, "list")["campaigns"]] == ["tickets"]


class TestLabel:
    """A session at the terminal on a pool."""

    def test_what_is_typed_is_learned_until_the_pick_is_proved(self, folder: Path) -> None:
        typed = truths(folder)
        done = session(folder, *(f"+{label}" if label == "toast" else label for label in typed))
        said = [line for line in typed if line == "toast"]
        best = document(folder, "best", "tickets")
        assert best["state"]["name"] == "certified", said
        assert best["labels_used"] == len(typed)
        assert done.stdout.count("Certified:") + done.stderr.count("Certified:") == 1, "said once"
        last = asked_in(done.stderr)[-1]
        assert f"`modelpicker retract tickets {last}`  takes your last answer back" in done.stderr
        assert "`modelpicker report tickets`" in done.stderr
        assert "That was the last item" not in done.stderr

    def test_a_certified_pool_asks_nothing_more_even_if_questions_are_open(self, folder: Path) -> None:
        campaign = opened(folder)
        campaign.pending(3)
        campaign.tell_many({n: truth(collection(ITEMS), n) for n in range(ITEMS)})
        assert campaign.best().certified
        done = session(folder, "ham")
        assert asked_in(done.stderr) == []
        assert "Certified:" in done.stdout

    def test_progress_counts_ones_own_labels_and_all(self, folder: Path) -> None:
        assert call(folder, "revise", "tickets", "--budget", "30").returncode == 0
        session(folder, "ham", "ham", "q", more=("--by", "bob"))
        done = session(folder, "ham", "s", "u", "u", "q", more=("--by", "ann"))
        heads = re.findall(r"tickets · (.*?) · ", done.stderr)
        assert heads == [
            "0 by you, 2 of at most 30",
            "1 by you, 3 of at most 30",
            "1 by you, 3 of at most 30",
            "1 by you, 3 of at most 30",
            "0 by you, 2 of at most 30",
        ]
        again = session(folder, "q", more=("--by", "bob"))
        assert "2 by you, 2 of at most 30" in again.stderr
        assert "0 by you, 2 of at most 30" in session(folder, "q").stderr

    def test_a_key_says_whether_one_may_stop(self, folder: Path) -> None:
        done = session(folder, "m", "ham", "m", "q")
        said = " ".join(done.stderr.split())
        assert "May I stop? Not yet. No label is known" in said
        assert "May I stop? Not yet: the goal is not reached. Running: 1 label is known" in said

    def test_undo_says_what_it_took_back_and_asks_again(self, folder: Path) -> None:
        done = session(folder, "ham", "u", "spam", "q")
        first = asked_in(done.stderr)[0]
        assert asked_in(done.stderr)[:3:2] == [first, first]
        assert f"Took back 'ham' for item {first}: item {first}\n" in done.stderr
        assert opened(folder).label_of(first) == "spam"

    def test_a_spent_budget_says_how_to_raise_it(self, folder: Path) -> None:
        call(folder, "revise", "tickets", "--budget", "2")
        done = session(folder, "ham", "ham", "ham")
        assert done.stdout.count("Budget spent:") + done.stderr.count("Budget spent:") == 1
        assert "too early to say how many more labels are needed" in " ".join(done.stdout.split())
        assert "Ask about 10 more (a budget of 12)" in " ".join(done.stdout.split())
        assert "`modelpicker revise tickets --budget 12`  allows more labels" in done.stderr

    def test_labels_to_go_are_said_with_progress_by_the_key_by_show_and_with_a_spent_budget(
        self, folder: Path
    ) -> None:
        assert call(folder, "revise", "tickets", "--budget", "12").returncode == 0
        done = session(folder, *["ham", "spam"] * 5, "ham", "m", "q")
        said, found = " ".join(done.stderr.split()), opened(folder).labels_to_go()
        assert found is not None
        assert found.words in re.findall(r"tickets · (.*?) · ", done.stderr)[-1]
        assert "more label" not in re.findall(r"tickets · (.*?) · ", done.stderr)[5], "it is too early to say"
        assert f"Not proven yet: {found.words}." in said
        assert f"Not proven yet: {found.words}." in done.stdout, "where it stands in the end"
        assert f"certificate Not proven yet: {found.words}." in call(folder, "show", "tickets").stdout
        spent = " ".join(session(folder, "ham").stdout.split())
        pick = opened(folder).best()
        assert pick.more is not None
        assert pick.more.sentence in spent
        assert f"Ask about {pick.more.labels} more (a budget of {12 + pick.more.labels})" in spent

    def test_a_paused_pool_says_so(self, folder: Path) -> None:
        call(folder, "revise", "tickets", "--pause")
        done = session(folder, "ham")
        assert asked_in(done.stderr) == []
        assert "Paused: Nobody is asked for labels now." in done.stdout

    def test_what_somebody_else_labels_is_said(self, folder: Path) -> None:
        call(folder, "revise", "tickets", "--budget", "1")
        opened(folder).pending(1, lease=600, annotator="bob")
        assert "1 more item waits, but somebody else is labelling it" in session(folder).stderr

    def test_it_can_be_read_by_programs(self, folder: Path) -> None:
        result = document(folder, "label", "tickets", typed="ham\ns\nq\n")
        assert (result["labelled"], result["skipped_now"], result["labels_used"]) == (1, 1, 1)

    def test_a_file_is_added_with_ask(self, folder: Path) -> None:
        done = call(folder, "label", "tickets", "--items", "more.csv")
        assert done.returncode == 2
        assert "ask tickets more.csv" in " ".join(done.stderr.split())


class TestTellAndShow:
    """What is said about a pool is true of a pool."""

    def test_a_label_nobody_asked_for_is_learned_and_the_words_say_so(self, folder: Path) -> None:
        done = call(folder, "tell", "tickets", "item 7", "ham")
        assert "1 learned that nobody was asked for." in done.stdout
        assert "0 labels asked for, 1 known without asking, 0 waiting;" in done.stdout
        assert "reference" not in done.stdout
        assert "no label yet" not in done.stdout
        assert document(folder, "best", "tickets")["pick"] is not None
        best = call(folder, "best", "tickets").stdout
        assert "No label is known yet" not in best
        assert "120 items in the pool; labels: 0 bought, 0 waiting, 0 skipped, 1 known without asking." in best

    def test_a_label_that_was_asked_for_is_new(self, folder: Path) -> None:
        number = str(opened(folder).pending(1)[0].id)
        done = call(folder, "tell", "tickets", number, "ham")
        assert done.stdout.startswith("1 new label. 1 label in all, 0 waiting;")

    def test_show_has_no_word_of_streams(self, folder: Path) -> None:
        call(folder, "revise", "tickets", "--budget", "30")
        shown = call(folder, "show", "tickets").stdout
        assert "at most 30 labels" in shown
        assert "within 2 points of the best model (95% confidence), which is not so yet" in shown
        assert "120 in the pool" in shown
        assert "stream" not in shown
        assert "seen" not in shown


class TestMoreItems:
    """`ask` adds to a pool."""

    def test_a_second_file_is_added_once(self, folder: Path) -> None:
        done = call(folder, "ask", "tickets", "more.csv")
        assert (done.returncode, done.stdout) == (0, "")
        assert "30 new items; 150 in the pool." in done.stderr
        again = document(folder, "ask", "tickets", "more.csv")
        assert (again["new"], again["known"], again["rounds"]) == (0, 30, 150)

    def test_its_labels_are_used_if_somebody_says_so(self, folder: Path) -> None:
        added = document(folder, "ask", "tickets", "more.csv", "--use-labels")
        assert (added["labels"], added["references"]) == (30, 30)

    def test_it_is_read_as_is_said(self, folder: Path) -> None:
        (folder / "odd.csv").write_text("nr,gold,ant,bee,cat,dog,junk\nz1,ham,ham,spam,ham,egg,x\n")
        options = ("--id", "nr", "--label", "gold", "--ignore", "junk", "--use-labels")
        assert document(folder, "ask", "tickets", "odd.csv", *options)["labels"] == 1
        assert opened(folder).label_of("z1") == "ham"

    def test_single_items_come_as_lines(self, folder: Path) -> None:
        line = {"ant": "ham", "bee": "spam", "cat": "ham", "dog": "egg", "key": "z"}
        done = call(folder, "ask", "tickets", typed=lines(line))
        assert json.loads(done.stdout)["query"] is False
        assert opened(folder).rounds == ITEMS + 1

    def test_a_file_of_lines_is_read_as_lines(self, folder: Path) -> None:
        line = {"predictions": {"ant": "ham", "bee": "spam", "cat": "ham", "dog": "egg"}, "key": "z"}
        (folder / "more.jsonl").write_text(lines(line))
        assert document(folder, "ask", "tickets", "more.jsonl")["new"] == 1
        flat = {**line["predictions"], "key": "y", "label": "ham"}  # type: ignore[dict-item]
        (folder / "flat.jsonl").write_text(lines(flat))
        assert document(folder, "ask", "tickets", "flat.jsonl", "--use-labels")["labels"] == 1

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            (("more.csv", "--all-at-once"), 2),
            (("more.jsonl", "--id", "key"), 2),
            (("none.csv",), 3),
            (("other.csv",), 1),
            (("-", "--use-labels"), 2),
            (("-", "--id", "x"), 2),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, folder: Path, arguments: tuple[str, ...], code: int) -> None:
        (folder / "other.csv").write_text("id,ant,bee\n1,ham,spam\n")
        (folder / "more.jsonl").write_text('["ham", "spam", "ham", "egg"]\n')
        assert call(folder, "ask", "tickets", *arguments).returncode == code
        assert opened(folder).rounds == ITEMS


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_pool_is_exported_imported_verified_and_reported(folder: Path, ending: str) -> None:
    session(folder, "ham", "s", "ham", "u", "spam", "q", more=("--by", "ann"))
    assert call(folder, "export", "tickets", f"out.{ending}").returncode == 0
    copied = document(folder, "import", f"out.{ending}", "--name", "copy")
    best = document(folder, "best", "tickets")
    assert {**copied, "campaign": "", "storage": ""} == {**best, "campaign": "", "storage": ""}
    assert [one["wrong"] for one in document(folder, "verify")["campaigns"]] == [[], []]
    report = document(folder, "report", "copy")
    assert report["pick"] == best["pick"]
    assert "ann" in (folder / "pick.html").read_text(encoding="utf-8")


def test_two_people_share_a_pool_on_postgresql(folder: Path, postgresql: Server) -> None:
    url = postgresql.database()
    where = ("--storage", url)
    assert call(folder, "create", "team", "--pool", "items.csv", "--budget", "40", *where).returncode == 0
    for who in ("ann", "bob"):
        done = call(folder, "label", "team", "--by", who, *where, typed="ham\nham\nu\nspam\nq\n")
        assert done.returncode == 0, done.stderr
    assert "2 by you, 4 of at most 40" in done.stderr
    assert call(folder, "ask", "team", "more.csv", *where).returncode == 0
    assert document(folder, "verify", "team", *where)["campaigns"][0]["wrong"] == []
    best = document(folder, "best", "team", *where)
    assert (best["labels_used"], best["rounds"]) == (4, ITEMS + 30)
    open_storage(url).close()
    postgresql.give_back(url)
