"""One vocabulary in plain English: words and phrases that we dropped must not come back.

A reader whose first language is not English should understand every sentence at first reading. So the test reads
all string literals, docstrings and comments of the code, and the texts of the page and of the README. It fails on a
dropped phrase and names its replacement. To quote one, write `words: quoted` in the same line.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
QUOTED = "words: quoted"
# What is read. Pages of the documentation join this list when they have been rewritten.
PYTHON = sorted((ROOT / "src").rglob("*.py"))
TEXTS = [
    *sorted((ROOT / "src/modelpicker/server/static").glob("*.html")),
    *(
        path
        for folder in ("lib", "parts", "state", "views")
        for path in sorted((ROOT / "src/modelpicker/server/static" / folder).glob("*.js"))
    ),
    ROOT / "README.md",
    ROOT / "docs/index.md",
    *sorted((ROOT / "docs/get-started").glob("*.md")),
    *sorted((ROOT / "docs/how-to").glob("*.md")),
    *sorted((ROOT / "docs/how-it-works").glob("*.md")),
    *sorted((ROOT / "docs/reference").glob("*.md")),
]
# A phrase, as a pattern in which a space stands for any white space, and what to write in its place.
DROPPED = {
    # Words that are archaic or rare.
    r"anew": "again; rebuilt",
    r"mend(s|ed|ing)?": "repair; correct",
    r"how surely": "how certain",
    r"made out": "recognised",
    r"(must not|cannot|can|could not) be had": "is (not) available",
    r"to the letter": "exactly",
    r"for good": "permanently",
    r"per cent": "percent",
    r"in the mean": "on average",
    r"put away": "archived",
    r"thereof|therein|herein|whence|hence|thence|thus": "so; from there",
    r"whilst|amongst|albeit|notwithstanding": "while; among; although",
    # Compressed phrases.
    r"(one|a row|a line|a column|a folder|a value|a label) an? (item|model|round|core|point|line|campaign|pool|"
    r"file|row|stream|column|slice|class|image)": "one per item; one row per item",
    r"(item|object|model) a (line|row|file)": "one item per line",
    r"who is out": "a model that was eliminated",
    r"ends so": "it prints",
    r"but for (the|its|one|some|what|capitals|a|at)": "except for",
    r"lets one in": "grants access",
    r"at (its|their) worst": "as the worst",
    r"makes? no sense": "is not valid",
    r"(is|are|was) none of": "is not one of",
    r"takes? (\S+ )?for the same": "treats as the same",
    r"(was|is|were|are|been) begun": "was started",
    r"to go on": "to continue",
    r"go(es|ing)? on with": "continue with",
    r"bring back a backup": "restore a backup",
    r"(?<!here.)(is|are|was) no (class|model|table|object|record|list|JSON|number)": "is not a class",
    r"(?<!here.)(is|are|was) no (file|campaign|column|label|database|key|page)": "is not a file",
    # Words for what is proven, and how certain it is.
    r"(is|are|was|were|be|been|as|nothing) proved": "proven",
    r"whenever one looks": "whenever you look",
    r"with confidence \d+": "(95% confidence)",
    r", certainly": "(certain)",
    r"[Nn]othing can be said of": "Not proven yet",
    r"speaks? of": "is about",
    # One word for one thing.
    r"sample points?|data ?points?|instances? to label": "item",
    r"candidate classifiers?|candidate models?": "model",
    r"annotation budget": "budget",
    r"labels spent|labels purchased|queries bought": "labels bought",
}
SPACE = r"\s+"
PATTERN = {re.compile(rf"\b(?:{old.replace(' ', SPACE)})\b"): new for old, new in DROPPED.items()}


def words_of(path: Path) -> Iterator[tuple[int, str]]:
    """Every string literal and comment of a file in Python, and all of any other file, with its first line."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield 1, text
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield token.start[0], token.string


def dropped(path: Path) -> Iterator[str]:
    """Every dropped phrase in a file, with its place and its replacement."""
    lines = path.read_text("utf-8").splitlines()
    for first, words in words_of(path):
        for pattern, instead in PATTERN.items():
            for found in pattern.finditer(words):
                number = first + words.count("\n", 0, found.start())
                if QUOTED not in lines[number - 1]:
                    phrase = " ".join(found.group().split())
                    yield f'{path.relative_to(ROOT)}:{number}: "{phrase}"; write: {instead}'


@pytest.mark.parametrize(
    "package", sorted({path.relative_to(ROOT / "src/modelpicker").parts[0] for path in PYTHON})
)
def test_no_dropped_word_is_in_the_code(package: str) -> None:
    paths = [path for path in PYTHON if path.relative_to(ROOT / "src/modelpicker").parts[0] == package]
    found = [line for path in paths for line in dropped(path)]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_dropped_word_is_in_the_page_or_the_readme(path: Path) -> None:
    found = list(dropped(path))
    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    "words",
    ["save it anew", "a row an item", "it is no\n    class", "to start, with confidence 95%.", "a pick is proved"],
)
def test_a_dropped_phrase_is_found(words: str) -> None:
    assert [instead for pattern, instead in PATTERN.items() if pattern.search(words)]
