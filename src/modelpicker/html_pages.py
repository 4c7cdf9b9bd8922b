"""One HTML page that needs nothing else: escaping, tables, and the frame around a body."""

import html
import json
from collections.abc import Iterable, Sequence

# What a page may load: its own styles, and pictures that are part of it. No other host is asked for anything.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def safe(text: object) -> str:
    """Text that cannot become markup; half characters, which cannot be written, are spelt out."""
    return html.escape(str(text).encode("utf-8", "backslashreplace").decode("utf-8"))


def script_json(value: object) -> str:
    """JSON that cannot end the script it stands in."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c")


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "numbers") -> str:
    """A table of cells that are safe already."""
    above = "".join(f"<th>{cell}</th>" for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<div class=scroll><table class={kind}><caption>{title}</caption><thead><tr>{above}</tr></thead>"
        f"<tbody>{lines}</tbody></table></div>"
    )


def html_page(title: str, body: Iterable[str], style: str, policy: str = POLICY) -> str:
    """The whole page; body and style are safe already."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{safe(title)}</title>
<style>
{style}</style>
</head>
<body>
{chr(10).join(body)}
</body>
</html>
"""
