"""Several people label an item, on the command line: conflicts are listed, and somebody settles them."""

from pathlib import Path

import pytest

from tests.cli.campaigning import call, document, lines

ROWS = "id,text,good,bad\n" + "".join(f"m{n},Message {n},spam,ham\n" for n in range(6))


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A campaign on six items, each of which two people label."""
    (tmp_path / "items.csv").write_text(ROWS)
    made = call(tmp_path, "create", "tickets", "--pool", "items.csv", "--overlap", "2", "--tolerance", "0")
    assert made.returncode == 0, made.stderr
    return tmp_path


def disagree(folder: Path) -> None:
    """Two people label an item; the second says something else."""
    assert call(folder, "label", "tickets", "--by", "mia", typed="spam\nq\n").returncode == 0
    assert call(folder, "label", "tickets", "--by", "tom", typed="ham\nq\n").returncode == 0


def test_a_conflict_from_its_beginning_to_its_end(pool: Path) -> None:
    disagree(pool)
    shown = call(pool, "show", "tickets").stdout
    assert "overlap     2 people label each item; 1 conflict to settle" in shown
    found = document(pool, "conflicts", "tickets")
    (conflict,) = found["conflicts"]
    assert [(one["by"], one["label"]) for one in conflict["opinions"]] == [("mia", "spam"), ("tom", "ham")]
    assert (found["agreement"]["items"], found["agreement"]["agreed"]) == (1, 0.0)
    text = call(pool, "conflicts", "tickets")
    assert "1 conflict to settle." in text.stdout
    assert f"{conflict['id']}  mia: spam, tom: ham  {conflict['key']} Message" in text.stdout
    assert "mia and tom" in text.stdout
    assert "settle tickets ID LABEL" in text.stderr
    settled = document(pool, "settle", "tickets", str(conflict["key"]), "spam", "--by", "boss")
    assert (settled["settled"], settled["label"], settled["conflicts"]) == (conflict["id"], "spam", 0)
    assert settled["labels_used"] == 2
    again = call(pool, "settle", "tickets", str(conflict["id"]), "spam")
    assert (again.returncode, "0 conflicts left" in again.stdout) == (0, True)
    assert "0 conflicts to settle." in call(pool, "conflicts", "tickets").stdout
    assert document(pool, "verify")["campaigns"][0]["wrong"] == []


def test_the_commands_that_are_offered_say_who_labels(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text(ROWS)
    pool = call(
        tmp_path, "create", "p", "--pool", "items.csv", "--overlap", "2", "--budget", "2", "--tolerance", "0"
    )
    stream = call(tmp_path, "create", "s", "--models", "good,bad", "--overlap", "2")
    kept = call(tmp_path, "ask", "s", "items.csv")
    for done, name in ((pool, "p"), (stream, "s"), (kept, "s")):
        assert f"label {name} --by WHO`" in done.stderr, done.stderr
    for by in ("mia", "tom"):
        done = call(tmp_path, "label", "p", "--by", by, typed="spam\n")
    assert "--by tom`  takes your last answer back" in done.stderr


def test_the_terminal_counts_and_undoes_what_this_person_said(pool: Path) -> None:
    """Also of items that wait for another person, and of those on which people disagree."""
    done = call(pool, "label", "tickets", "--by", "mia", typed="spam\nspam\nu\nq\n").stderr
    assert "tickets · 2 by you, 2 in all · no label known yet" in done
    assert "Took back 'spam' for item" in done
    done = call(pool, "label", "tickets", "--by", "tom", typed="ham\nu\nq\n").stderr
    assert "tickets · 1 by you, 2 in all" in done
    assert "Took back 'ham' for item" in done
    assert call(pool, "label", "tickets", "--by", "mia", typed="u\nu\nq\n").stderr.count("Took back 'spam'") == 1
    assert document(pool, "best", "tickets")["labels_used"] == 0


def test_no_model_is_named_while_no_label_is_known(pool: Path) -> None:
    disagree(pool)
    found = document(pool, "best", "tickets")
    assert (found["pick"], found["labels_used"], found["conflicts"]) == (None, 2, 1)
    told = call(pool, "best", "tickets").stdout
    assert "No label is known yet, so nothing is known about the models." in told
    assert "Pick:" not in told
    assert "There is no pick yet." in call(pool, "report", "tickets", "--out", "r.html").stdout


def test_nobody_can_tell_is_a_way_to_settle(pool: Path) -> None:
    disagree(pool)
    item = str(document(pool, "conflicts", "tickets")["conflicts"][0]["id"])
    assert document(pool, "settle", "tickets", item, "--cannot-tell")["skipped"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("settle", "tickets", "0"), 2, "pass either a label or --cannot-tell"),
        (("settle", "tickets", "0", "spam", "--cannot-tell"), 2, "pass either a label or --cannot-tell"),
        (("settle", "tickets", "5", "spam"), 4, "nobody was asked about round 5"),
        (("settle", "tickets", "77", "spam"), 3, "there is no round 77"),
        (("settle", "nowhere", "0", "spam"), 3, "no campaign"),
        (("conflicts", "nowhere"), 3, "no campaign"),
        (("label", "tickets"), 2, "say who you are"),
        (("create", "other", "--pool", "items.csv", "--overlap", "1.5"), 2, "overlap=1.5"),
        (("create", "other", "--models", "a,b", "--overlap", "2", "--budget", "9"), 2, "does not go with a budget"),
    ],
)
def test_what_makes_no_sense_is_refused(pool: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = call(pool, *arguments)
    assert done.returncode == code, done.stderr
    assert said in " ".join(done.stderr.split())


def test_a_campaign_without_conflicts_says_so(tmp_path: Path) -> None:
    call(tmp_path, "create", "plain", "--models", "a,b")
    assert call(tmp_path, "conflicts", "plain").stdout == (
        "0 conflicts to settle.\n\nNo item has been labelled by two people yet.\n"
    )
    assert "overlap" not in call(tmp_path, "show", "plain").stdout
    done = call(tmp_path, "create", "shared", "--models", "a,b", "--overlap", "0.25")
    assert done.returncode == 0, done.stderr
    assert "two people label 25% of the items" in call(tmp_path, "show", "shared").stdout


def test_one_person_alone_is_told_that_another_is_needed(pool: Path) -> None:
    done = call(pool, "label", "tickets", "--by", "mia", typed="spam\n" * 6)
    assert "6 items wait for the label of another person" in " ".join(done.stderr.split())
    told = call(pool, "tell", "tickets", "--by", "tom", typed=lines({"key": "m0", "label": "spam"}))
    assert "1 new label" in told.stdout


def test_the_majority_decides_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text(ROWS)
    options = ("--overlap", "3", "--overlap-rule", "majority", "--tolerance", "0")
    assert call(tmp_path, "create", "tickets", "--pool", "items.csv", *options).returncode == 0
    for by, label in (("mia", "spam"), ("tom", "ham"), ("eve", "spam")):
        assert call(tmp_path, "label", "tickets", "--by", by, typed=f"{label}\nq\n").returncode == 0
    shown = call(tmp_path, "show", "tickets").stdout
    assert "overlap     3 people label each item, the majority decides; 0 conflicts to settle" in shown
    assert document(tmp_path, "show", "tickets")["overlap_rule"] == "majority"
    wrong = call(tmp_path, "create", "other", "--pool", "items.csv", "--overlap-rule", "most")
    assert (wrong.returncode, "majority" in wrong.stderr) == (2, True)
