"""What the changelog says about this version: python -m tools.release_notes."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version() -> str:
    """The version, from the one place that has it."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def notes(wanted: str, changelog: str) -> str:
    """The part of the changelog about a version; an error if there is none."""
    found = re.search(
        rf"^## \[{re.escape(wanted)}\][^\n]*\n(.*?)(?=^## \[|\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    if found is None or not found[1].strip():
        raise SystemExit(f"CHANGELOG.md says nothing about version {wanted}: give Unreleased that heading.")
    return found[1].strip()


if __name__ == "__main__":
    sys.stdout.write(f"{notes(version(), (ROOT / 'CHANGELOG.md').read_text('utf-8'))}\n")
