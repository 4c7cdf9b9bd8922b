"""The pages on scikit-learn, frames, MLflow and notebooks work when pasted."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs/how-to"


@pytest.mark.parametrize(
    "name", ["scikit-learn", "frames", pytest.param("mlflow", marks=pytest.mark.slow), "notebooks"]
)
def test_a_page_works_when_pasted(name: str, tmp_path: Path) -> None:
    text = (PAGES / f"{name}.md").read_text()
    script = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert script.count("import modelpicker as mp") == 1
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
