"""The files of the page: nothing from elsewhere, and nothing forgotten."""

import re
from importlib.resources import files
from pathlib import Path

STATIC = Path(str(files("modelpicker"))) / "server" / "static"
SCRIPTS = [path for path in STATIC.rglob("*.js") if not path.is_relative_to(STATIC / "vendor")]
MODULES = [*SCRIPTS, *STATIC.glob("vendor/*.mjs")]
IMPORT = re.compile(r"""(?:from|import)\s*\(?["'](\.[^"']+)["']""")
IMPORT_AT_ONCE = re.compile(r"""(?:from|import)\s*["'](\.[^"']+)["']""")
MAY_IMPORT = {
    "main.js": {"lib", "state", "views"},
    "views": {"lib", "parts", "state"},
    "parts": {"lib", "parts", "state", "vendor"},
    "state": {"lib", "state"},
    "lib": {"lib", "vendor"},
}
APP = STATIC / "views" / "app.js"  # the one view that holds the others
PRELOAD = STATIC / "lib" / "preload.js"  # no module
INDEX = (STATIC / "index.html").read_text()


def reached(path: Path, seen: set[Path]) -> set[Path]:
    """A module and all that it cannot run without."""
    if path not in seen:
        seen.add(path)
        for name in IMPORT_AT_ONCE.findall(path.read_text()):
            reached((path.parent / name).resolve(), seen)
    return seen


AT_ONCE = reached(STATIC.resolve() / "main.js", set())


def test_every_module_that_the_page_needs_at_once_is_fetched_at_once() -> None:
    named = re.findall(r'<link rel="modulepreload" href="static/([^"]+)">', INDEX)
    assert sorted([*named, "main.js"]) == sorted(path.relative_to(STATIC).as_posix() for path in AT_ONCE)


def test_what_each_view_needs_is_fetched_while_the_page_is_under_way() -> None:
    views = dict(re.findall(r"^  (\w+): \(\) => import\('\./(\w+)\.js'\)", APP.read_text(), re.MULTILINE))
    assert len(views) > 7
    listed = {
        view: re.findall(r"'([^']+)'", names)
        for view, names in re.findall(r"(\w+): \[([^\]]+)\]", PRELOAD.read_text())
    }
    assert listed == {
        view: sorted(
            path.relative_to(STATIC).with_suffix("").as_posix()
            for path in reached(STATIC.resolve() / "views" / f"{file}.js", set()) - AT_ONCE
        )
        for view, file in views.items()
    }


def test_every_module_is_needed_by_another() -> None:
    needed = {(path.parent / name).resolve() for path in MODULES for name in IMPORT.findall(path.read_text())}
    assert {path.resolve() for path in MODULES} - needed == {STATIC.resolve() / "main.js", PRELOAD.resolve()}


def test_every_import_is_of_a_file_that_is_there() -> None:
    imports = [(path, name) for path in MODULES for name in IMPORT.findall(path.read_text())]
    assert len(imports) > len(MODULES)
    assert [(path.name, name) for path, name in imports if not (path.parent / name).is_file()] == []


def test_every_module_is_in_a_folder_except_where_the_page_starts() -> None:
    assert [path.name for path in STATIC.glob("*.js")] == ["main.js"]
    assert {folder_of(path) for path in SCRIPTS} == set(MAY_IMPORT)


def test_each_folder_imports_only_from_those_below_it() -> None:
    wrong = [
        (path.relative_to(STATIC).as_posix(), name)
        for path in SCRIPTS
        for name in IMPORT.findall(path.read_text())
        if path != APP and folder_of(path.parent / name) not in MAY_IMPORT[folder_of(path)]
    ]
    assert wrong == []


def folder_of(path: Path) -> str:
    """The first part of a path below the page's folder."""
    return path.resolve().relative_to(STATIC.resolve()).parts[0]


def test_every_style_sheet_is_linked() -> None:
    linked = re.findall(r'<link rel="stylesheet" href="static/([^"]+)">', INDEX)
    assert sorted(linked) == sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.css"))


def test_nothing_names_another_host_or_what_the_policy_forbids() -> None:
    styles = list(STATIC.glob("css/*.css"))
    assert SCRIPTS
    assert styles
    for path in [STATIC / "index.html", *SCRIPTS, *styles]:
        text = path.read_text()
        assert not re.search(r"\b(https?|wss?|ftp)://", text), path.name
        assert not re.search(r"innerHTML|\beval\(|new Function|style=\"|onclick=", text), path.name


def test_no_source_map_is_asked_for() -> None:
    assert not any("sourceMappingURL" in path.read_text() for path in MODULES)


def test_every_vendored_file_has_its_version_and_licence() -> None:
    readme = (STATIC / "vendor" / "README.md").read_text()
    for path in (STATIC / "vendor").iterdir():
        assert path.name == "README.md" or path.name in readme
    assert sorted(path.name for path in (STATIC / "vendor" / "licences").iterdir()) == [
        "htm.txt",
        "preact.txt",
    ]
