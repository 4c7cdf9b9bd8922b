"""`modelpicker collections`: list, show, make, convert, as a user types them."""

import json
from pathlib import Path

import pytest

import modelpicker as mp
from tests.cli.running import run
from tests.collections.test_bad_files import BAD
from tests.shared_data import need


def test_list_names_what_ships_and_the_presets() -> None:
    done = run("collections", "list")
    for name in (
        "digits",
        "cifar10",
        "imagenet-like",
        "cifar10-like",
        "cifar10-v2-like",
        "emocontext-like",
        "drift-like",
    ):
        assert name in done.stdout
    listed = json.loads(run("collections", "list", "--json").stdout)["collections"]
    assert {entry["kind"] for entry in listed} == {"shipped", "preset"}
    assert all(entry["items"] > 0 and entry["models"] > 1 for entry in listed)


def test_show_describes_a_collection_in_eighty_columns(tmp_path: Path) -> None:
    done = run("collections", "show", need("emocontext"), "--plot", tmp_path / "x.png")
    assert done.returncode == 0
    assert "5,509 items, 8 models, 4 classes" in done.stdout
    assert "models disagree on    902 items (16.4%)" in done.stdout
    for symbol in ("λ =", "Δ =", "θ ="):
        assert symbol in done.stdout
    assert max(len(line.rstrip()) for line in done.stdout.splitlines() if str(tmp_path) not in line) <= 80
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_show_as_json_has_everything(tmp_path: Path) -> None:
    found = json.loads(run("collections", "show", "digits", "--json").stdout)
    assert found["items"] == 1497
    assert len(found["accuracies"]) == found["models"] == len(found["model_names"])
    assert set(found["hardness"]) == {"best", "tied", "delta", "lambda", "rival", "rival_delta", "theta"}
    assert found["fields"] == ["id", "image"]


def test_show_names_identical_models_abstentions_and_missing_cells(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,copy,label\nx,y,x,x\ny,,y,y\nx,x,x,y\n")
    done = run("collections", "show", "x.csv", folder=tmp_path)
    assert "a, copy give the same answer to every item" in done.stdout
    assert "abstentions           1 of 9 predictions (b 1)" in done.stdout
    assert "note: 1 of 9 cells are missing, empty or -1, and taken as abstentions (b 1)." in done.stderr


def test_show_prints_the_card_of_what_ships() -> None:
    assert run("collections", "show", "digits", "--card").stdout.startswith("# digits")
    assert run("collections", "show", "nothing", "--card").returncode == 1


def test_make_and_convert_write_what_show_reads(tmp_path: Path) -> None:
    made = run("collections", "make", "x.npz", "--items", "500", "--models", "4", "--classes", "3", folder=tmp_path)
    assert made.returncode == 0
    assert "x.npz: 500 items, 4 models, 3 classes." in made.stdout
    report = json.loads(run("collections", "convert", "x.npz", "y.parquet", "--json", folder=tmp_path).stdout)
    assert report["fingerprint"] == mp.load_collection(tmp_path / "x.npz").fingerprint
    assert mp.load_collection(tmp_path / "y.parquet") == mp.load_collection(tmp_path / "x.npz")
    spread = mp.load_collection(tmp_path / "x.npz").accuracies
    assert spread is not None
    assert spread.tolist() == pytest.approx([0.5, 0.634, 0.766, 0.9], abs=0.002)


def test_make_a_preset(tmp_path: Path) -> None:
    arguments = ("collections", "make", "x.parquet", "--preset", "cifar10-like", "--items", "400", "--json")
    report = json.loads(run(*arguments, folder=tmp_path).stdout)
    assert (report["items"], report["models"], report["classes"]) == (400, 80, 10)
    assert run("collections", "make", "x.csv", "--preset", "nothing", folder=tmp_path).returncode == 3


@pytest.mark.parametrize("accuracies", ["0.5,0.6", "a,b", "0.5:x", "2:3"])
def test_accuracies_that_make_no_sense_are_refused(tmp_path: Path, accuracies: str) -> None:
    done = run("collections", "make", "x.npz", "--accuracies", accuracies, folder=tmp_path)
    assert done.returncode == 1
    assert "accuracies" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_options_of_reading(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,a,b,source\n1,Yes.,no,web\n2,yes,NO,mail\n")
    arguments = ("collections", "show", "x.csv", "--fields", "source", "--normalise", "--json")
    found = json.loads(run(*arguments, folder=tmp_path).stdout)
    assert found["classes"] == 2
    assert found["model_names"] == ["a", "b"]
    assert any("normalised" in note for note in found["notes"])
    named = run("collections", "show", "x.csv", "--models", "a,b", "--json", folder=tmp_path)
    chosen = json.loads(named.stdout)
    assert chosen["fields"] == ["id", "source"]


@pytest.mark.parametrize(
    "case", ["ragged", "truncated parquet", "mixed types", "pickled npy", "csv called parquet"]
)
def test_a_bad_file_is_one_line_exit_code_1_and_no_traceback(tmp_path: Path, case: str) -> None:
    name, content, message = BAD[case]
    (tmp_path / name).write_bytes(content)
    for verb in (("collections", "show"), ("pick",)):
        done = run(*verb, name, folder=tmp_path)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert message in done.stderr
        assert done.stderr.startswith(f"modelpicker: {name}")
        assert not done.stdout


def test_what_does_not_exist_exits_with_3(tmp_path: Path) -> None:
    done = run("collections", "show", "nothing.csv", folder=tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith("modelpicker: nothing.csv does not exist.")


def test_nothing_is_overwritten_unless_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n0,1\n")
    for arguments in (("convert", "x.csv", "x.csv"), ("make", "x.csv")):
        done = run("collections", *arguments, folder=tmp_path)
        assert done.returncode == 4
        assert done.stderr == "modelpicker: x.csv exists; pass --force to overwrite it.\n"
    assert (tmp_path / "x.csv").read_text() == "a,b\n0,1\n"
    assert run("collections", "convert", "x.csv", "x.csv", "--force", folder=tmp_path).returncode == 0


def test_a_preset_takes_no_sizes_of_its_own(tmp_path: Path) -> None:
    done = run("collections", "make", "x.npz", "--preset", "cifar10-like", "--models", "5", folder=tmp_path)
    assert done.returncode == 2


def test_markup_in_names_is_shown_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "[x].csv").write_text("[/x],llama[7b],label\n0,1,1\n1,1,1\n")
    done = run("collections", "show", "[x].csv", "--plot", "p.png", folder=tmp_path)
    assert done.returncode == 0
    assert "[/x]" in done.stdout
    assert "llama[7b]" in done.stdout
