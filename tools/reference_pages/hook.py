"""Fills in, while MkDocs builds the site, what pages take from the code: `<!-- from the code: NAME -->`."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from tools.reference_pages import commands, http, markdown, python_names, settings

SOURCES: dict[str, Callable[[], str]] = {
    "commands": commands.page,
    "http": http.page,
    "server settings": settings.server_table,
    "campaign settings": settings.campaign_table,
    "exit codes": markdown.exit_codes,
    "problems": http.problem_table,
}
PLACE = re.compile(r"<!-- from the code: ([a-z ]+?)(?:: ([\w, ]+))? -->")


@cache
def _filled(name: str, argument: str | None) -> str:
    """The Markdown for a place."""
    if name == "python" and argument:
        return python_names.blocks(argument.replace(",", " ").split())
    return SOURCES[name]()


def on_page_markdown(text: str, **_: Any) -> str:
    """MkDocs calls this with the Markdown of every page."""
    text = text.replace("```python\n>>> ", "```pycon\n>>> ")  # coloured as a session, with what it prints
    return PLACE.sub(lambda found: _filled(found[1], found[2]), text)
