"""What a plain install leaves out: the rest works without it, and errors name the command that installs it."""

import json
import pickle
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.extras import EXTRAS, TESTED, require
from tests.test_package import imported_name

ROOT = Path(__file__).parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# Imported by uvicorn if it is there, and used by us if it is there.
NOT_NEEDED = {"uvloop", "pandas"}
# Too large for `all`.
LARGE = {"spark"}
# Comes with every install all the same: typer needs it.
SHARED = {"pydantic"}
MISSING = {extra: set(one.modules) - SHARED for extra, one in EXTRAS.items()}
EVERYTHING = {*NOT_NEEDED, "dask"}.union(*MISSING.values())

WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""


def run_without(modules: set[str], script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a process that cannot import some modules."""
    whole = WITHOUT.format(modules=sorted(modules)) + script
    return subprocess.run([sys.executable, "-c", whole], cwd=folder, capture_output=True, text=True, timeout=300)


ONE_BY_ONE = """
import contextlib, io, json
from modelpicker.cli import main

told = []
for arguments in {commands!r}:
    sys.argv = ["modelpicker", *arguments]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
    told.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(told))
"""


def commands_without(
    modules: set[str], folder: Path, commands: Sequence[Sequence[str]]
) -> list[tuple[int, str, str]]:
    """What commands of ours exit with and say, on both streams, in a process that cannot import some modules.

    They share the process: to start one takes longer than most commands do.
    """
    done = run_without(modules, ONE_BY_ONE.format(commands=[list(one) for one in commands]), folder)
    assert done.returncode == 0, done.stderr
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]


def test_the_extras_are_those_that_are_declared() -> None:
    names = {extra: {imported_name(one) for one in DECLARED[extra]} for extra in DECLARED}
    everything = re.fullmatch(r"modelpicker\[(.*)\]", DECLARED["all"][0])
    assert everything is not None
    assert set(everything[1].split(",")) == names.keys() - {"all", *LARGE}
    needed = {extra: found - NOT_NEEDED for extra, found in names.items() if extra not in ("all", "pandas")}
    assert needed == {extra: set(one.modules) for extra, one in EXTRAS.items()}


@pytest.mark.parametrize("extra", [extra for extra in EXTRAS if extra not in LARGE])
def test_an_extra_that_is_installed_is_fine(extra: str) -> None:
    require(extra)
    assert sys.modules.keys() >= set(EXTRAS[extra].modules)


COMMANDS = [
    ("server", ["serve", "--port", "0"]),
    ("server", ["serve", "--demo", "--port", "0"]),
    ("server", ["tokens", "create", "me", "--role", "owner"]),
    ("server", ["tokens", "list"]),
    ("server", ["tokens", "revoke", "me"]),
    ("figures", ["compare", "digits", "--figures"]),
    ("figures", ["reproduce", "drift", "--figures"]),
    ("figures", ["collections", "show", "digits", "--plot", "digits.png"]),
    ("dask", ["compare", "digits", "--engine", "dask", "--realizations", "1", "--budgets", "20"]),
    ("postgresql", ["list", "--storage", "postgresql://localhost/campaigns"]),
    ("postgresql", ["tokens", "create", "me", "--role", "owner", "--storage", "postgresql://localhost/campaigns"]),
]


@cache
def told_without(extra: str) -> dict[tuple[str, ...], tuple[int, str, str]]:
    """What each command that needs an extra exits with and says where it is missing, for people and as JSON."""
    commands = [(*one, *more) for needed, one in COMMANDS if needed == extra for more in ((), ("--json",))]
    with tempfile.TemporaryDirectory() as folder:
        return dict(zip(commands, commands_without(MISSING[extra], Path(folder), commands), strict=True))


@pytest.mark.parametrize(
    ("extra", "arguments"), COMMANDS, ids=[" ".join(arguments[:3]) for _, arguments in COMMANDS]
)
def test_a_command_that_needs_a_missing_extra_says_in_one_line_how_to_install_it(
    extra: str, arguments: list[str]
) -> None:
    code, out, err = told_without(extra)[*arguments]
    line = f"modelpicker: {EXTRAS[extra].purpose} needs {EXTRAS[extra].modules[0]}, which is not installed: "
    assert (code, out) == (1, "")
    assert [text for text in err.splitlines() if not text.startswith("note:")] == [
        f'{line}pip install "modelpicker[{extra}]"'
    ]
    code, out, _ = told_without(extra)[*arguments, "--json"]
    error = json.loads(out)["error"]
    assert (code, error["type"], error["exit_code"]) == (1, "MissingExtraError", 1)
    assert f'pip install "modelpicker[{extra}]"' in error["message"]


CALLS = [
    ("client", "mp.Client()"),
    ("postgresql", "mp.open_campaign('postgresql://localhost/campaigns', 'a')"),
    ("postgresql", "mp.create_campaign('postgresql://localhost/campaigns', 'a', models=2)"),
    ("dask", "mp.compare(mp.load_collection('digits'), budgets=[20], realizations=1, engine='dask')"),
    (
        "figures",
        "from modelpicker.experiments.figures import Sheet, draw_figures; draw_figures(Sheet('t', 'c', [[]], ()))",
    ),
    (
        "figures",
        "from pathlib import Path; from modelpicker.experiments.report import write_report; "
        "write_report(Path('report.html'), 't', [], {}, 'c')",
    ),
    (
        "figures",
        "from pathlib import Path; from modelpicker.collections.plots import plot_collection; "
        "plot_collection(mp.load_collection('digits'), None, Path('a.png'))",
    ),
]


SKLEARN = "from modelpicker.integrations.scikit_learn import BestModelClassifier"
WIDGET = "from modelpicker.integrations.label_widget import LabelWidget"
PICKED = "found = mp.pick(mp.ModelCollection([['a', 'b']] * 9, ['b'] * 9))"
CALLS += [
    ("sklearn", SKLEARN),
    ("notebook", WIDGET),
    (
        "datasets",
        "from modelpicker.integrations.hugging_face import to_dataset as to; to(mp.load_collection('digits'))",
    ),
    ("mlflow", f"from modelpicker.integrations.mlflow import log_pick; {PICKED}; log_pick(found)"),
    ("figures", "mp.load_collection('digits').plot()"),
    ("figures", f"{PICKED}; found.plot()"),
]

CATCHING = """
try:
    {call}
except mp.MissingExtraError as error:
    assert isinstance(error, mp.ModelPickerError) and isinstance(error, ImportError)
    print(error.extra, error)
"""


@cache
def raised_without(extra: str) -> dict[str, str]:
    """What each call that needs an extra says where it is missing."""
    calls = [call for needed, call in CALLS if needed == extra]
    script = "import modelpicker as mp\n" + "".join(CATCHING.format(call=call) for call in calls)
    with tempfile.TemporaryDirectory() as folder:
        done = run_without(MISSING[extra], script, Path(folder))
    assert done.returncode == 0, done.stderr
    return dict(zip(calls, done.stdout.splitlines(), strict=True))


@pytest.mark.parametrize(
    ("extra", "call"), CALLS, ids=[f"{extra}-{number}" for number, (extra, _) in enumerate(CALLS)]
)
def test_a_call_that_needs_a_missing_extra_raises_an_error_that_says_so(extra: str, call: str) -> None:
    said = raised_without(extra)[call]
    assert said.startswith(f"{extra} {EXTRAS[extra].purpose} needs ")
    assert said.endswith(f'pip install "modelpicker[{extra}]"')


def test_every_public_name_can_be_imported_without_any_extra(tmp_path: Path) -> None:
    done = run_without(
        EVERYTHING, "from modelpicker import *\nimport modelpicker.cli\nprint(Client, Campaign)", tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "modelpicker.server.client.Client" in done.stdout


@pytest.mark.slow
def test_files_and_campaigns_need_no_extra(tmp_path: Path) -> None:
    (tmp_path / "mails.csv").write_text(
        "id,bert,roberta,label\n" + "".join(f"m{n},{n % 2},{n % 3 % 2},{n % 2}\n" for n in range(40))
    )

    def fine(*commands: tuple[str, ...]) -> list[str]:
        done = commands_without(EVERYTHING, tmp_path, commands)
        assert [code for code, _, _ in done] == [0] * len(commands), done
        return [out for _, out, _ in done]

    storage = ("--storage", "sqlite:///campaigns.db")
    (tmp_path / "items.jsonl").write_text('{"bert": "spam", "roberta": "ham"}\n' * 5)
    shown, picked, _, asked = fine(
        ("--help",),
        ("pick", "mails.csv", "--json"),
        ("create", "mails", "--models", "bert,roberta", *storage),
        ("ask", "mails", "items.jsonl", "--all-at-once", "--json", *storage),
    )
    assert "serve" in shown
    assert json.loads(picked)["pick"] == "bert"
    query = next(one["id"] for one in json.loads(asked)["decisions"] if one["query"])
    _, best = fine(("tell", "mails", str(query), "spam", *storage), ("best", "mails", "--json", *storage))
    assert json.loads(best)["labels_used"] == 1


def test_a_comparison_without_figures_says_what_is_missing_and_goes_on(tmp_path: Path) -> None:
    size = ("--realizations", "2", "--budgets", "20", "--methods", "model-picker")
    short = ("compare", "digits", *size, "--out", "results")
    (code, out, err), (_, _, without) = commands_without(
        EVERYTHING, tmp_path, [(*short, "--json"), (*short, "--no-figures")]
    )
    assert code == 0, err
    assert json.loads(out)["rows"]
    assert (
        'no figures and no report: drawing figures needs matplotlib, which is not installed: pip install "' in err
    )
    assert not (tmp_path / "results" / "report.html").exists()
    assert "no figures" not in without


def test_an_extra_that_is_there_but_broken_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "psycopg.py").write_text("raise ImportError('no pq wrapper available')")
    script = "sys.path.insert(0, '.')\nimport modelpicker as mp\nmp.open_campaign('postgresql://localhost/x', 'a')"
    done = run_without(set(), script, tmp_path)
    assert "psycopg, which cannot be imported (no pq wrapper available): pip install" in done.stderr


def test_an_error_about_an_extra_is_the_same_in_another_process() -> None:
    error = pickle.loads(pickle.dumps(mp.MissingExtraError("missing.", extra="dask")))  # noqa: S301
    assert (str(error), error.extra) == ("missing.", "dask")


def test_another_uvicorn_is_refused_with_the_command_that_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelpicker.extras.version", lambda _: "0.99.0")
    with pytest.raises(
        mp.UntestedVersionError, match=re.escape('uvicorn 0.99.0 is installed: pip install "uvicorn==')
    ):
        require("server")


def test_the_versions_that_were_tested_are_those_that_are_locked() -> None:
    lock = (Path(__file__).parents[1] / "requirements.lock").read_text()
    for library, wanted in TESTED.items():
        assert re.search(rf"^{library}=={re.escape(wanted)}\.", lock, re.MULTILINE), library
