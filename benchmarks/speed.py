"""Kernels against textbooks, growth with rounds and models, one round from Python: what `modelpicker bench` does.

python -m benchmarks.speed [--json]
"""

import sys

from modelpicker.cli import app


def main() -> None:
    """Run the verb."""
    app(["bench", *sys.argv[1:]], prog_name="modelpicker")


if __name__ == "__main__":
    main()
