"""The notebooks of the docs are run in a real kernel, and still print what they show."""

from pathlib import Path

import nbformat
import pytest
from tools.notebooks import NOTEBOOKS, executed, printed


@pytest.mark.filterwarnings("ignore")  # of the kernel's own event loop
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem == "frame_to_pick" else pytest.mark.slow) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_a_notebook_runs_and_prints_what_it_shows(path: Path, tmp_path: Path) -> None:
    shown = printed(nbformat.read(path, as_version=4))  # type: ignore[no-untyped-call]
    assert len(shown) > 3
    assert printed(executed(path, tmp_path)) == shown, "run python -m tools.notebooks"


def test_there_is_a_notebook_for_a_frame_and_one_for_prompts() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["frame_to_pick", "prompts_with_a_judge"]
    for path in NOTEBOOKS:
        assert path.stat().st_size < 200_000
        assert "/home/" not in path.read_text()
