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


# A card takes the colours of the page that it stands in, which may be light or dark: it has no background, greys
# are the text's own colour thinned, and colours are mid tones.
CARD_STYLE = """
.mp-card { max-width: 46rem; font: 14px/1.45 system-ui, sans-serif; color: inherit; overflow-wrap: anywhere;
  border: 1px solid color-mix(in srgb, currentColor 22%, transparent); border-radius: 8px; padding: .7rem 1rem; }
.mp-card h4 { font-size: 1.2rem; line-height: 1.25; margin: 0 0 .35rem; font-weight: 650; color: inherit; }
.mp-card p { margin: .3rem 0; }
.mp-card .quiet, .mp-card caption, .mp-card th { color: color-mix(in srgb, currentColor 72%, transparent); }
.mp-card small { display: block; font-size: 11px; color: color-mix(in srgb, currentColor 72%, transparent); }
.mp-card img { display: block; max-width: 64px; max-height: 64px; min-width: 28px; }
.mp-card .sure { border-left: 4px solid #0b8a63; padding-left: .6rem; white-space: pre-line; }
.mp-card .sure.open { border-color: #c27a12; }
.mp-card dl { display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; margin: .6rem 0; }
.mp-card dl div { display: block; }
.mp-card dt { font-size: .8rem; font-weight: 400; color: color-mix(in srgb, currentColor 72%, transparent); }
.mp-card dd { margin: 0; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.mp-card .scroll { overflow-x: auto; }
.mp-card table { border-collapse: collapse; border: 0; margin: .5rem 0 .2rem; width: 100%; font-size: 13px;
  font-variant-numeric: tabular-nums; color: inherit; background: none; }
.mp-card caption { text-align: left; caption-side: top; padding: 0 0 .2rem; font-size: 12.5px; }
.mp-card tr, .mp-card tbody tr:nth-child(odd), .mp-card tbody tr:nth-child(even) { background: none; }
.mp-card th, .mp-card td { text-align: right; padding: .22rem .5rem; border: 0; background: none; color: inherit;
  border-bottom: 1px solid color-mix(in srgb, currentColor 14%, transparent); white-space: nowrap; }
.mp-card th { font-weight: 500; }
.mp-card th:first-child, .mp-card td:first-child { text-align: left; padding-left: 0; white-space: normal; }
.mp-card table.text th, .mp-card table.text td { text-align: left; white-space: normal; vertical-align: top;
  overflow-wrap: normal; min-width: 2rem; }
.mp-card tr.best td:first-child { font-weight: 700; }
.mp-card .track { position: relative; display: block; height: 1rem; min-width: 9rem; }
.mp-card .track i { position: absolute; }
.mp-card .zero { top: -.2rem; bottom: -.2rem; width: 1px; background: currentColor; opacity: .6; }
.mp-card .range { top: .28rem; height: .44rem; border-radius: .22rem; background: currentColor; opacity: .28; }
.mp-card .dot { top: .15rem; width: .7rem; height: .7rem; margin-left: -.35rem; border-radius: 50%;
  background: #868f9a; }
.mp-card .best .dot, .mp-card .bar { background: #1784cc; }
.mp-card .bar { top: .28rem; height: .44rem; left: 0; border-radius: .22rem; }
"""


def html_card(title: str, *body: str) -> str:
    """A small box for a notebook; the body is safe already, the title is not."""
    return f"<style>{CARD_STYLE}</style><div class=mp-card><h4>{safe(title)}</h4>{''.join(body)}</div>"


def html_tiles(facts: dict[str, str]) -> str:
    """Numbers with what they are, side by side."""
    return "<dl>" + "".join(f"<div><dt>{safe(k)}</dt><dd>{safe(v)}</dd></div>" for k, v in facts.items()) + "</dl>"


def html_bar(share: float) -> str:
    """A bar of a share of the width."""
    return f'<span class=track><i class=bar style="width:{100 * min(max(share, 0.0), 1.0):.1f}%"></i></span>'
