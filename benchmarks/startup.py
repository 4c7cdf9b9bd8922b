"""How long `modelpicker --help` takes, beside a bare interpreter.

python -m benchmarks.startup
"""

import subprocess
import sys

from modelpicker.bench.speed import fastest

LIMIT_SECONDS = 0.4


def seconds(*arguments: str) -> float:
    """The fastest of ten runs of a Python process."""
    return fastest(lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True), 10)


def main() -> None:
    """Print both."""
    print(f"python -c pass         {seconds('-c', 'pass'):6.3f} s")
    print(f"import modelpicker     {seconds('-c', 'import modelpicker'):6.3f} s")
    print(
        f"modelpicker --help     {seconds('-m', 'modelpicker', '--help'):6.3f} s   (wanted: under {LIMIT_SECONDS})"
    )


if __name__ == "__main__":
    main()
