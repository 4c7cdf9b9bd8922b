"""One HTML page that needs nothing else: tables, interactive plots, and how every number was made."""

import base64
import html
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from modelpicker.collections.writers import replacing
from modelpicker.experiments.figures import AXES, Section, caption, looks_of, off_budget
from modelpicker.experiments.labels_needed import smallest
from modelpicker.experiments.metrics import OF_STREAMS
from modelpicker.experiments.reproduction import ClaimVerdict
from modelpicker.experiments.results import Results
from modelpicker.experiments.tuning import MARKS
from modelpicker.extras import require
from modelpicker.html_pages import html_page, html_table, safe, script_json
from modelpicker.kernels.primitives import Floats

LEVELS = (0.8, 0.9, 0.95)
# The page asks no other host for anything, and offers no button that would send its plots to one.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
PLOT_SETTINGS = {"responsive": True, "displaylogo": False, "showSendToCloud": False, "plotlyServerURL": ""}
DASHES = ("solid", "dash", "dashdot", "dot", "longdashdot", "longdash")
SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star")


def write_report(
    path: Path,
    title: str,
    sections: Sequence[Section],
    verdicts: Mapping[str, Sequence[ClaimVerdict]],
    command: str,
) -> None:
    """Write the page; verdicts on the paper's claims stand in the section of that title."""
    require("figures")  # it goes with the figures
    plots: dict[str, dict[str, Any]] = {}
    body = [f"<h1>{safe(title)}</h1>", f"<p class=quiet>Made by</p><pre>{safe(command)}</pre>"]
    for number, section in enumerate(sections):
        body += _section(section, verdicts.get(section.title, ()), plots, f"plot-{number}")
    files = resources.files("modelpicker.experiments")
    style = (files / "report.css").read_text("utf-8")
    library = base64.b64encode((files / "vendor" / "plotly-basic.min.js.gz").read_bytes()).decode("ascii")
    scripts = f"""<script id=plotly type=text/plain>{library}</script>
<script>
(async () => {{
  const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), (one) => one.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const library = document.createElement("script");
  library.textContent = await new Response(unpacked).text();
  document.head.append(library);
  const plots = {script_json(plots)};
  for (const [place, plot] of Object.entries(plots)) {{
    Plotly.newPlot(place, plot.data, plot.layout, {script_json(PLOT_SETTINGS)});
  }}
}})();
</script>"""
    page = html_page(title, [*body, scripts], style, POLICY)
    with replacing(path) as unfinished:
        unfinished.write_text(page, encoding="utf-8")


def _section(
    section: Section, verdicts: Sequence[ClaimVerdict], plots: dict[str, dict[str, Any]], place: str
) -> Iterable[str]:
    """The tables, plots and facts of one comparison."""
    results = section.results
    yield f"<h2>{safe(section.title)}</h2>"
    yield f"<p class=quiet>{safe(caption(results))}</p>"
    if results.settings["collection"]["stand_in"]:
        yield f"<p class=stand-in>Stand-in: {safe(results.settings['collection']['stand_in'])}</p>"
    if verdicts:
        yield _verdicts(verdicts, results)
    yield _levels(results)
    found = _plots(section)
    yield "<div class=plots>"
    for name, plot in found.items():
        plots[f"{place}-{name}"] = plot
        yield f'<div class=plot id="{place}-{name}"></div>'
    yield "</div>"
    for metric in results.metrics:
        yield _table(results, metric)
    yield _marks(results)
    yield _facts(results)


def _verdicts(verdicts: Sequence[ClaimVerdict], results: Results) -> str:
    """The paper's claims beside what was measured."""
    rows = [(safe(v.claim), safe(v.paper), safe(v.measured), safe(v.explanation)) for v in verdicts]
    named = f"The paper's claims. {_how(results)} Intervals hold 95 % of resamples."
    return html_table(safe(named), ("claim", "paper", "measured", "what was found"), rows, kind="text")


def _levels(results: Results) -> str:
    """Labels to identification probabilities."""
    rows = [
        (safe(method), *(shown_labels(results, method, level) for level in LEVELS)) for method in results.methods
    ]
    named = f"Labels needed for an identification probability. {_how(results)}"
    return html_table(safe(named), ("method", *(f"{level:.0%}" for level in LEVELS)), rows)


def shown_labels(results: Results, method: str, level: float) -> str:
    """The labels that a method needs for a level; at most this many, if the smallest budget is enough."""
    needed = results.labels_needed(level)[method]
    if not math.isfinite(needed):
        return "never"
    return f"{'≤ ' if needed == smallest(results.outcomes[method]) else ''}{needed:,.0f}"


def _how(results: Results) -> str:
    """What every table says about how it was made."""
    stand_in = results.settings["collection"]["stand_in"]
    return f"Budget rule: {results.settings['budget_rule']}." + (f" Stand-in: {stand_in}." if stand_in else "")


def _table(results: Results, metric: str) -> str:
    """A metric with its standard errors: budgets down, methods across."""
    share = metric in AXES and AXES[metric][1]
    rows = []
    for budget in results.budgets:
        cells = [f"{budget:,}"]
        for method in results.methods:
            row = results.row(method, budget)
            value, error = row[metric], row[f"{metric}_se"]
            shown = f"{value:.2%}" if share else f"{value:,.2f}"
            spread = "" if math.isnan(error) else f" ± {error:.2%}" if share else f" ± {error:,.2f}"
            cells.append(f"{shown}{spread}{'*' if row['mark'] else ''}")
        rows.append(tuple(cells))
    name = metric.replace("_", " ").replace("p90", "(90th percentile)")
    return html_table(safe(f"{name.capitalize()}. {_how(results)}"), ("budget", *map(safe, results.methods)), rows)


def _marks(results: Results) -> str:
    """Which budgets could not be met, and why."""
    marked = [row for row in results.rows if row["mark"]]
    if not marked:
        return f"<p class=quiet>Every method bought what the budget says, within 2 %. {safe(_how(results))}</p>"
    lines = "".join(
        f"<li>{safe(row['method'])} at {row['budget']:,}: {row['queries']:,.1f} labels, {MARKS[row['mark']]}</li>"
        for row in marked
    )
    named = f"* Another number of labels than the budget. {_how(results)}"
    return f"<p class=quiet>{safe(named)}</p><ul class=quiet>{lines}</ul>"


def _facts(results: Results) -> str:
    """Everything that decides the numbers."""
    made = results.settings
    methods = [
        (
            safe(method["label"]),
            safe(method["tuned"] or "nothing"),
            safe(", ".join(f"{name}={value}" for name, value in method["options"].items()) or "-"),
            f"{made['tuning_runs'][method['label']]:,}",
        )
        for method in made["methods"]
    ]
    collection = made["collection"]
    facts = [
        ("collection", f"{collection['name']}, fingerprint {collection['fingerprint']}"),
        (
            "size",
            f"{collection['items']:,} items, {collection['models']} models, {collection['classes']:,} classes",
        ),
        ("seed", made["seed"]),
        (
            {"stream": "streams", "pool": "files"}[results.setting],
            f"{made['realizations']:,} of {made['stream_size']:,} items, drawn without replacement",
        ),
        *(("remark", remark) for remark in made["remarks"]),
        ("budget rule", made["budget_rule"]),
        ("tuning", made["tuning"]),
        ("versions", ", ".join(f"{name} {value}" for name, value in made["versions"].items())),
    ]
    listed = html_table(
        safe(f"How it was made. {_how(results)}"),
        ("", ""),
        [(safe(name), safe(value)) for name, value in facts],
        "text",
    )
    return listed + html_table(
        safe(f"Methods. {_how(results)}"), ("method", "tuned", "other options", "runs spent on tuning"), methods
    )


def _plots(section: Section) -> dict[str, dict[str, Any]]:
    """Interactive plots, as Plotly takes them."""
    results = section.results
    plots = {
        metric: _plot(results, metric, "labels bought (mean)", _by_budget(results, metric))
        for metric in ("identification_probability", "accuracy_gap", "accuracy_gap_p90")
    }
    for metric in (name for name in OF_STREAMS if name in results.metrics):
        below = f"round (budget {section.round_budget:,})"
        plots[metric] = _plot(results, metric, below, _by_round(results, metric, section.round_budget))
    plots["accuracies"] = {
        "data": [_histogram(results.accuracies)],
        "layout": _layout(results, "accuracies of the models", "accuracy", "models"),
    }
    return plots


def _histogram(values: Floats) -> dict[str, Any]:
    """How many values lie where, as bars."""
    counts, edges = np.histogram(values, "auto")
    middles, widths = (edges[:-1] + edges[1:]) / 2.0, np.diff(edges)
    bars = {"x": middles.tolist(), "y": counts.tolist(), "width": widths.tolist()}
    return {"type": "bar", **bars, "marker": {"color": "#8fb4d9"}}


def _plot(results: Results, metric: str, below: str, traces: list[dict[str, Any]]) -> dict[str, Any]:
    name, share = AXES[metric]
    layout = _layout(results, name, below, name)
    if share:
        layout["yaxis"]["tickformat"] = ".0%" if metric.startswith("ident") else ".2%"
    return {"data": traces, "layout": layout}


def _layout(results: Results, title: str, below: str, beside: str) -> dict[str, Any]:
    words = [title, f"budget rule: {results.settings['budget_rule']}"]
    words += ["STAND-IN"] if results.settings["collection"]["stand_in"] else []
    return {
        "title": {"text": html.escape(" · ".join(words)), "font": {"size": 14}},
        "xaxis": {"title": {"text": below}},
        "yaxis": {"title": {"text": beside}, "rangemode": "tozero"},
        "legend": {"orientation": "h", "y": -0.25},
        "margin": {"t": 40, "r": 40},
        "modebar": {"orientation": "v"},
        "hovermode": "closest",
    }


def _by_budget(results: Results, metric: str) -> list[dict[str, Any]]:
    traces = []
    for place, (method, look) in enumerate(looks_of(results.methods).items()):
        rows = sorted((results.row(method, budget) for budget in results.budgets), key=lambda row: row["queries"])
        symbol = SYMBOLS[place % len(SYMBOLS)]
        traces.append(
            {
                "name": html.escape(method),
                "mode": "lines+markers",
                "x": [row["queries"] for row in rows],
                "y": [row[metric] for row in rows],
                "error_y": {"array": [_number(row[f"{metric}_se"]) for row in rows], "thickness": 1},
                "text": [f"budget {row['budget']:,}{' (not met)' if row['mark'] else ''}" for row in rows],
                "line": {"color": look.colour, "dash": DASHES[place % len(DASHES)], "width": look.width},
                "marker": {"size": 8, "symbol": [symbol + ("-open" if row["mark"] else "") for row in rows]},
            }
        )
    return traces


def _by_round(results: Results, metric: str, budget: int) -> list[dict[str, Any]]:
    return [
        {
            "name": html.escape(method + off_budget(results, method, budget)),
            "mode": "lines",
            "x": results.rounds.tolist(),
            "y": results.curves[method, budget][metric].tolist(),
            "line": {"color": look.colour, "dash": DASHES[place % len(DASHES)], "width": look.width},
        }
        for place, (method, look) in enumerate(looks_of(results.methods).items())
    ]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
