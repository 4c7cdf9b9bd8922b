"""Writes the tables of algorithms in docs: what each does, when to use it, its options.

`python -m tools.algorithm_tables` writes them again from what the algorithms say about themselves; a test says when
that is due.
"""

import re
from collections.abc import Callable
from pathlib import Path

from modelpicker.algorithms import ALGORITHMS
from modelpicker.campaigns.setting_options import BY_NAME
from modelpicker.options import Option, spelt

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "docs" / "reference" / "python" / "streams.md", ROOT / "docs" / "how-it-works" / "algorithms.md")
PART = re.compile(r"(<!-- made by tools\.algorithm_tables: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(*rows: tuple[str, ...]) -> str:
    """Rows as Markdown; the first is the heading."""
    heading, *others = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]
    return "\n".join([heading, "|" + "---|" * len(rows[0]), *others]) + "\n"


def classes() -> str:
    """The classes, as the reference shows them."""
    return table(
        ("class", "what it does", "when to use it"),
        *(
            (f"`{kind.__name__}({_needed(kind.about.options)})`", kind.about.summary, kind.about.when_to_use)
            for kind in ALGORITHMS.values()
        ),
    )


def _needed(options: tuple[Option, ...]) -> str:
    """The arguments without which a class cannot be made."""
    return ", ".join(["models", "seed", *(f"{option.name}=…" for option in options if option.required)])


def promises() -> str:
    """The algorithms by name, with what is proven about them."""
    return table(
        ("name", "what it does", "when to use it", "what it promises"),
        *(
            (f"`{name}`", kind.about.summary, kind.about.when_to_use, kind.about.promises)
            for name, kind in ALGORITHMS.items()
        ),
    )


def options() -> str:
    """All options of all algorithms."""
    rows: list[tuple[str, ...]] = [("all", *_option(BY_NAME["seed"]))]
    for name, kind in ALGORITHMS.items():
        for place, option in enumerate(kind.about.options):
            rows.append((f"`{name}`" if place == 0 else "", *_option(option)))
    return table(("algorithm", "option", "default", "range", "what it is", "try first"), *rows)


def _option(option: Option) -> tuple[str, ...]:
    symbol = f" ({option.symbol})" if option.symbol else ""
    default = "needed" if option.required else "none" if option.default is None else spelt(option.default)
    return f"`{option.name}`{symbol}", default, option.range, option.help, option.advice


TABLES: dict[str, Callable[[], str]] = {"classes": classes, "promises": promises, "options": options}


def written(text: str) -> str:
    """A page with its tables as they should be."""
    return PART.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n{found[3]}", text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(written(page.read_text("utf-8")), "utf-8")
