"""Run the notebooks of the docs and keep what they print: python -m tools.notebooks."""

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path, folder: Path) -> Any:
    """A notebook as it is after all its cells were run, in a folder where it may write."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook, timeout=300, record_timing=False, resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return notebook


def printed(notebook: Any) -> list[str]:
    """What the cells print, and the text of their last values: no pictures, which differ between machines."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
    return [text for text in texts if " object at 0x" not in text and "Picture size" not in text]


def main() -> None:
    """Run each notebook, and write it back with its outputs."""
    import tempfile

    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(path, Path(folder))
        notebook.metadata = {"language_info": {"name": "python"}}
        nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
        sys.stdout.write(f"{path.name}: {len(notebook.cells)} cells\n")


if __name__ == "__main__":
    main()
