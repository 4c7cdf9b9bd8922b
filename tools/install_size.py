"""How large a plain install is: python -m tools.install_size WHEEL.

Installs the wheel into an empty environment, runs its demo, and counts packages and bytes. It fails past the bar.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

# Most of it is PyArrow, llvmlite and NumPy. A new dependency should be a decision.
MOST_PACKAGES, MOST_MEGABYTES = 26, 520
# What comes with an empty environment.
GIVEN = {"pip", "setuptools"}


class InstallSize(NamedTuple):
    """What a plain install brings."""

    packages: tuple[str, ...]
    megabytes: float

    @property
    def sentence(self) -> str:
        """The size, and the bar."""
        return (
            f"{len(self.packages)} packages (at most {MOST_PACKAGES}), "
            f"{self.megabytes:.0f} MB (at most {MOST_MEGABYTES} MB): {', '.join(self.packages)}"
        )

    @property
    def fine(self) -> bool:
        """Whether it is below the bar."""
        return len(self.packages) <= MOST_PACKAGES and self.megabytes <= MOST_MEGABYTES


def measure(python: Path) -> InstallSize:
    """The size of an environment, without pip itself and without compiled caches."""
    listed = subprocess.run([python, "-m", "pip", "list", "--format", "json"], capture_output=True, check=True)
    packages = sorted({package["name"].lower() for package in json.loads(listed.stdout)} - GIVEN)
    where = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, check=True
    )
    site = Path(where.stdout.decode().strip())
    files = [
        file
        for folder in site.iterdir()
        if folder.name.split("-")[0] not in GIVEN
        for file in ([folder] if folder.is_file() else folder.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts and file.suffix not in (".nbi", ".nbc")
    ]
    return InstallSize(tuple(packages), sum(file.stat().st_size for file in files) / 1e6)


def main(wheel: str) -> int:
    """Install, run the demo, measure."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        programs = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
        python = programs / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-cache-dir", wheel], check=True)
        size = measure(python)
        print(size.sentence, flush=True)
        subprocess.run([programs / "modelpicker", "demo"], cwd=folder, check=True)
    return 0 if size.fine else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
