"""The package as a whole: what it exports, what it imports, how it is built."""

import ast
import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from tools.install_size import measure

import modelpicker as mp

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = [name for extra, names in PROJECT["optional-dependencies"].items() if extra != "all" for name in names]
HEAVY = (
    "numba",
    "llvmlite",
    "scipy",
    "pandas",
    "pyarrow",
    "matplotlib",
    "sqlalchemy",
    "fastapi",
    "dask",
    "distributed",
    "sklearn",
    "torch",
)


def test_the_surface_is_exactly_what_all_says() -> None:
    assert len(mp.__all__) == len(set(mp.__all__))
    for name in mp.__all__:
        assert getattr(mp, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mp.nothing  # noqa: B018


def test_completion_shows_the_names_that_are_needed_first_and_the_rooms() -> None:
    rooms = {path.stem for path in (ROOT / "src/modelpicker").iterdir() if not path.stem.startswith(("_", "py"))}
    private = {"bench", "cli", "extras", "frames", "html_pages", "options", "packing", "pictures", "py"}
    shown = set(dir(mp))
    assert rooms - private <= shown
    assert {"pick", "ModelPicker", "load_collection", "create_campaign", "compare"} <= shown
    assert shown - rooms <= set(mp.__all__)
    assert shown.isdisjoint({"LabelEfficient", "VoteEntropy", "EfficientActive", "StructuralCommittee"})


def test_no_two_public_types_share_a_name() -> None:
    """Classes and type aliases; migrations are left alone, as each must stay what it was."""
    homes: dict[str, list[str]] = {}
    for path in sorted((ROOT / "src/modelpicker").rglob("*.py")):
        for node in () if "migrations" in path.parts else ast.parse(path.read_text()).body:
            made = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            name = node.name if isinstance(node, ast.ClassDef) else getattr(made, "id", "_")
            if not name.startswith("_") and name[0].isupper() and not name.isupper():
                homes.setdefault(name, []).append(path.name)
    assert len(homes) > 200
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_every_public_name_is_documented() -> None:
    page = (ROOT / "docs/reference/api.md").read_text()
    assert [name for name in mp.__all__ if not re.search(rf"\b{name}\b", page)] == []


def returned(function: object) -> set[str]:
    """The names of our own types that a function or method says it returns."""
    found = inspect.signature(function).return_annotation  # type: ignore[arg-type]
    if isinstance(found, type):
        return {found.__name__} if found.__module__.startswith("modelpicker") else set()
    return set(re.findall(r"modelpicker[\w.]*\.([A-Z]\w+)", str(found)))


@pytest.mark.parametrize(
    "kind", ["Campaign", "RemoteCampaign", "Client", "Results", "ModelCollection", "AnyCampaign"]
)
def test_what_public_methods_return_can_be_imported(kind: str) -> None:
    """Methods that a user calls; those that the service uses are not for import from the top."""
    internal = {
        "Transaction",
        "WriteGroup",
        "EventStore",
        "PagedEventStore",
        "Projection",
        "CampaignState",
        "Stored",
    }
    methods = [
        getattr(found, "fget", found)
        for name, found in inspect.getmembers(getattr(mp, kind))
        if not name.startswith("_") and (callable(found) or isinstance(found, property))
    ]
    assert len(methods) > 3
    assert set().union(*map(returned, methods)) - internal <= set(mp.__all__)


def test_layers_can_be_reached_from_the_top() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import modelpicker as mp; print(mp.errors.InputError, mp.algorithms, mp.coins, mp.collections)\n"
            "print(mp.experiments, mp.theory.bounds.regret(100, 2))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "InputError" in done.stdout


def test_every_error_is_a_modelpicker_error() -> None:
    errors = [name for name in mp.__all__ if name.endswith("Error")]
    assert {"ModelPickerError", "InputError", "NotFoundError", "ConflictError", "StorageError"} <= set(errors)
    assert [name for name in errors if not issubclass(getattr(mp, name), mp.ModelPickerError)] == []


def loaded_after(statement: str) -> set[str]:
    """The heavy libraries that a statement imports."""
    script = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(HEAVY) & set(json.loads(done.stdout))


def test_importing_modelpicker_imports_nothing_heavy() -> None:
    assert not loaded_after("import modelpicker")
    assert not loaded_after("import modelpicker.cli")


def test_the_command_line_shows_its_help_without_numpy() -> None:
    script = (
        "import sys\nfrom modelpicker.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Usage: " in done.stdout
    assert done.stdout.splitlines()[-1] == "False"


def test_a_collection_that_ships_needs_no_library_that_it_was_trained_with() -> None:
    loaded = loaded_after("import modelpicker\nmodelpicker.load_collection('cifar10')")
    assert not loaded & {"sklearn", "torch", "numba", "matplotlib", "pandas"}


def test_one_round_at_a_time_never_imports_numba() -> None:
    steps = "p = modelpicker.ModelPicker(3); d = p.observe([0, 1, 1]); p.recommended; p.weights; p.state_dict()"
    assert not loaded_after(f"import modelpicker\n{steps}")
    assert "numba" in loaded_after(
        "import modelpicker\nmodelpicker.run_stream(modelpicker.ModelPicker(2), [[0, 1]], [1])"
    )


def test_the_client_needs_neither_a_database_nor_arrow() -> None:
    used = (
        "from modelpicker.campaigns import Pick, Query, Standing\n"
        "from modelpicker.campaigns.results.status import Status"
    )
    surface = "from modelpicker import Certificate, Client, Decision, Pick, RemoteCampaign"
    made = "from modelpicker.server.client import Client\nClient()"
    assert not loaded_after(f"{used}\n{surface}\n{made}")
    assert "sqlalchemy" in loaded_after("from modelpicker.campaigns import Campaign")


def test_the_python_versions_are_declared() -> None:
    assert PROJECT["requires-python"] == ">=3.11"
    for minor in (11, 12, 13, 14):
        assert f"Programming Language :: Python :: 3.{minor}" in PROJECT["classifiers"]


NOT_LOCKED = {"pyspark"}  # too large to install for a few tests


def test_every_dependency_is_locked() -> None:
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    for requirement in [*PROJECT["dependencies"], *OPTIONAL, *groups["dev"], *groups["docs"]]:
        assert re.split(r"[<>=!\[ ]", requirement)[0] in locked | NOT_LOCKED


IMPORTED = {"scikit_learn": "sklearn", "mlflow_skinny": "mlflow"}


def imported_name(requirement: str) -> str:
    """The name by which Python imports what is required."""
    name = re.split(r"[<>=[;]", requirement)[0].replace("-", "_")
    return IMPORTED.get(name, name)


def imported_libraries() -> set[str]:
    names = set()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split(".")[0])
    return names - sys.stdlib_module_names - {"modelpicker"}


def test_what_the_package_imports_is_what_it_declares() -> None:
    declared = {imported_name(requirement) for requirement in [*PROJECT["dependencies"], *OPTIONAL]}
    by_name = {"psycopg", "httptools", "uvloop", "pandas"}  # by SQLAlchemy, uvicorn, uvicorn and narwhals
    hosts = {"anyio", "inspect_ai", "pytest"}  # they call plugins of ours, so whoever needs these has them
    assert (imported_libraries() - hosts) | by_name == declared


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", str(folder), str(ROOT)], check=True, capture_output=True)
    return next(folder.glob("modelpicker-*.whl"))


def test_the_wheel_holds_the_whole_package_and_nothing_else(wheel: Path) -> None:
    files = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    kinds = (
        ".py",
        ".typed",
        ".npz",
        ".md",
        ".json",
        ".toml",
        ".css",
        ".html",
        ".js",
        ".mjs",
        ".svg",
        ".txt",
        ".gz",
    )
    expected = {
        str(file.relative_to(source))
        for file in source.rglob("*")
        if file.suffix in kinds or file.name == "LICENSE"
    }
    assert {
        f"modelpicker/collections/data/{name}" for name in ("digits.npz", "cifar10.npz", "digits.md")
    } <= expected
    assert {file for file in files if ".dist-info/" not in file} == expected
    assert any(file.endswith("licenses/LICENSE") for file in files)


def test_the_wheel_works_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--no-index"]
    subprocess.run([*install, "--target", str(target), str(wheel)], check=True, capture_output=True)
    script = f"""
import sys
sys.path = [{str(target)!r}] + [path for path in sys.path if not path.endswith("src")]
import modelpicker as mp
assert mp.__file__.startswith({str(target)!r})
print(mp.run_stream(mp.ModelPicker(2, 0), [[0, 1]] * 200, [1] * 200).winner, mp.__version__)
print(len(mp.load_collection("digits")))
from modelpicker.experiments.setups import read_setups
print(len(read_setups()))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", version("modelpicker"), "1497", "5"]


class Environment:
    """An environment of its own, into which the wheel is installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of its programs, away from the checkout."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [str(self.folder / "env" / "bin" / program), *arguments]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)

    def done(self, program: str, *arguments: str) -> str:
        """What a program prints that must not fail."""
        done = self.run(program, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def installed(self) -> set[str]:
        """The names of the packages in it."""
        found = json.loads(self.done("python", "-m", "pip", "list", "--format", "json"))
        return {package["name"].lower().replace("-", "_") for package in found}


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    own = Environment(tmp_path)
    own.done("python", "-m", "pip", "install", "--quiet", str(wheel))
    left_out = {imported_name(requirement) for requirement in OPTIONAL}
    assert own.installed() & left_out == {"pydantic"}, "which typer brings"
    size = measure(tmp_path / "env/bin/python")
    assert size.fine, size.sentence
    assert json.loads(own.done("modelpicker", "demo", "--json"))["rounds"] == 10_000

    rows = "".join(f"m{n},{n % 2},{n % 3 % 2},{n % 2}\n" for n in range(40))
    (tmp_path / "mails.csv").write_text(f"id,bert,roberta,label\n{rows}")
    assert json.loads(own.done("modelpicker", "pick", "mails.csv", "--json"))["pick"] == "bert"
    own.done("modelpicker", "create", "mails", "--models", "bert,roberta")
    (tmp_path / "items.jsonl").write_text('{"bert": "spam", "roberta": "ham"}\n' * 5)
    made = json.loads(own.done("modelpicker", "ask", "mails", "items.jsonl", "--all-at-once", "--json"))[
        "decisions"
    ]
    own.done("modelpicker", "tell", "mails", str(next(one["id"] for one in made if one["query"])), "spam")
    assert json.loads(own.done("modelpicker", "best", "mails", "--json"))["labels_used"] == 1

    for extra, arguments in (("server", ["serve"]), ("figures", ["compare", "digits", "--figures"])):
        refused = own.run("modelpicker", *arguments)
        assert refused.returncode == 1
        assert refused.stderr.endswith(f'which is not installed: pip install "modelpicker[{extra}]"\n')
        assert len(refused.stderr.splitlines()) == 1


@pytest.mark.slow
def test_the_command_that_an_error_names_is_enough(wheel: Path, tmp_path: Path) -> None:
    own = Environment(tmp_path)
    own.done("python", "-m", "pip", "install", "--quiet", f"{wheel}[server,client,figures]")
    served = """
import threading
from modelpicker import Client
from modelpicker.server.app import create_app
from modelpicker.server.configuration import Configuration
from modelpicker.server.network.run import Server, listen
configuration = Configuration(storage="memory://own", port=0)
listener = listen(configuration)
server = Server(create_app(configuration), configuration)
threading.Thread(target=server.run, args=([listener],), daemon=True).start()
with Client(f"http://127.0.0.1:{listener.getsockname()[1]}") as client:
    print(client.create_campaign("mails", models=2).describe()["rounds"])
server.should_exit = True
"""
    assert own.done("python", "-c", served).split() == ["0"]
    short = ("--realizations", "2", "--budgets", "20", "--methods", "model-picker", "--out", "results")
    own.done("modelpicker", "compare", "digits", *short)
    assert (tmp_path / "results" / "report.html").exists()
