"""The report as one HTML page: read in a minute, printed, or sent by mail; it asks for nothing and runs nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from types import MappingProxyType

from modelpicker.algorithms.pools.slice_table import HEAD, TITLE, SliceTable
from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.judge_quality import JudgeQuality, percent
from modelpicker.campaigns.results.pick import Pick, Standing
from modelpicker.campaigns.results.report import Report, count, cut, replace_name
from modelpicker.campaigns.results.report_charts import bar_chart, colours_of, line_chart, proof_chart, reign_strip
from modelpicker.certificates.wording import how_certain, rounded_up
from modelpicker.encoding import ModelName
from modelpicker.html_pages import html_page, html_table, safe
from modelpicker.losses import ACCURACY, BALANCED, COST, GRADES, PREFERENCE, WEIGHTED

# Models that are shown at once; then those that are folded away, and no more: a page has to stay small.
FIRST_MODELS, MOST_MODELS = 12, 500
# Who labelled, and changes of the recommended model, that are listed at most.
MOST_ANNOTATORS, MOST_REIGNS = 20, 8
LONGEST_SETTING = 600
# Models whose macro-F1 is shown.
BARS = 10
NAME_IN_A_LIST = 32
# Classes that are listed at most, to say how good a judge was.
MOST_CLASSES = 20
OTHER_CLASS = "a class that no model says"
# What the leader board shows, by the loss; and the chart, where it was estimated against another model.
COSTS_MORE = "How much more each model costs per item than {}, as a share of the cost of the worst mistake"
BEHIND = {
    ACCURACY: "How much less accurate than {} each model is",
    GRADES: "How much lower the mean grade of each model is than that of {}",
    PREFERENCE: "The share of items on which {} beats each model, minus the share on which it loses",
    WEIGHTED: COSTS_MORE,
    BALANCED: "How much lower the balanced accuracy of each model is than that of {}",
    COST: COSTS_MORE,
}
LED = "the model that led by then"
MINUS = "\N{MINUS SIGN}"


def report_page(report: Report) -> str:
    """The whole page."""
    style = (resources.files("modelpicker.campaigns.results") / "report.css").read_text("utf-8")
    title = f"{cut(report.title, 80)}: " if report.title else ""
    return html_page(f"{title}{report.headline}", _body(report), style)


def _body(report: Report) -> Iterator[str]:
    pick = report.pick
    named = f"<b>{safe(cut(report.title, 120))}</b> · " if report.title else ""
    yield "<main>"
    yield f"<p class=quiet>{named}modelpicker report · {safe(_time(report.made))}</p>"
    yield f"<h1>{safe(report.headline)}</h1>"
    yield f'<p class="sure {"proved" if pick.certified else "open"}">{safe(report.certainty)}</p>'
    if pick.remark and pick.named:
        yield f"<p>{safe(replace_name(pick.remark, pick.model))}</p>"
    if pick.calls_sentence:
        yield f"<p>{safe(pick.calls_sentence)}</p>"
    yield from _tiles(report)
    yield f"<p>{safe(report.cost)} {safe(report.saving)}</p>"
    if pick.named:
        colours = colours_of(_coloured(report))
        yield from _board(pick, colours)
        if report.course is not None:
            yield from _course(report, report.course, colours)
        yield from _macro_f1(pick, colours)
    yield from _judge(pick.judge)
    if pick.slices is not None:
        yield from _slices(pick.slices)
    yield from _annotators(report)
    yield from _facts(report)
    yield "</main>"


def _tiles(report: Report) -> Iterator[str]:
    """What it cost, what it saved, and where it stands, at a glance."""
    pick, saved = report.pick, report.saved_share
    tiles = [
        (f"labels {report.came}", f"{pick.labels_used - report.known:,}"),
        ("items", f"{pick.rounds:,}"),
        *([] if saved is None else [("labels saved", _floor_percent(saved))]),
        ("state", pick.state.title),
    ]
    yield "<dl class=tiles>"
    yield from (f"<div><dt>{name}</dt><dd>{safe(value)}</dd></div>" for name, value in tiles)
    yield "</dl>"
    if not pick.state.over:  # else that is what was said above
        step = "" if pick.state.name == "finished" else pick.state.next  # "Read the report."
        told = " ".join(filter(None, (pick.state.reason, step)))
        yield f"<p class=quiet>{safe(told)}</p>"


def _floor_percent(share: float) -> str:
    """A share in percent, rounded down: what is claimed must not be more than what is so."""
    return f"{int(share * 1000 + 1e-9) / 10:g}%"


def _coloured(report: Report) -> list[ModelName]:
    """The models that get a colour: the first ones, and those that were recommended last."""
    standing = [entry.model for entry in report.pick.standing]
    if report.course is None:
        return standing[:1]
    reigned = [reign.model for reign in reversed(report.course.reigns)]
    return [*standing[:1], *list(report.course.lines)[:4], *reigned]


# The leader board.


def _board(pick: Pick, colours: dict[ModelName, str]) -> Iterator[str]:
    """All models, the pick first, each with a bar; the last ones are folded away."""
    shown = pick.standing[:MOST_MODELS]
    first = shown[:FIRST_MODELS]
    intervals = any(entry.low is not None for entry in shown[1:])
    yield "<section><h2>Leader board</h2>"
    yield f"<p class=quiet>{safe(_meaning(pick, intervals))}{safe(_better(pick))}</p>"
    yield standing_rows(pick, first, colours)
    if len(shown) > len(first):
        yield f"<details><summary>{count(len(shown) - len(first), 'more model')}</summary>"
        yield standing_rows(pick, shown[len(first) :], colours)
        yield "</details>"
    if len(pick.standing) > len(shown):
        yield f"<p class=quiet>The {count(len(pick.standing) - len(shown), 'model')} after these are left out.</p>"
    yield "</section>"


def _meaning(pick: Pick, intervals: bool) -> str:
    """What the numbers of the leader board say."""
    if not pick.weighted:
        return f"{_lost(pick).capitalize()} on the labels, more than the pick's."
    told = f"{_how_far_behind(pick, 'the pick')}: the dot is an estimate."
    if intervals and pick.certificate.kind == "pool":
        sure = how_certain(pick.certificate.confidence)
        right = " if they are right" if pick.certificate.label_noise else ""
        return f"{told} The bar is what the labels leave possible on these items{right} ({sure})."
    if intervals:
        return f"{told} The bar is a rough 95% interval. Only the statement above is proven."
    return f"{told} There are no intervals for it."


def _how_far_behind(pick: Pick, other: str) -> str:
    """What the gap to another model is, in the words of the loss."""
    return BEHIND.get(pick.certificate.loss, BEHIND[ACCURACY]).format(other)


def _lost(pick: Pick) -> str:
    """What models lose: mistakes can be counted only where an answer is right or wrong."""
    return "mistakes" if pick.certificate.loss == ACCURACY else "loss"


def _better(pick: Pick) -> str:
    """What it means that a model has a better estimate than the pick; empty if none has."""
    if all(_behind(pick, entry) >= 0.0 for entry in pick.standing):
        return ""
    told = " A model to the left of the line looks better than the pick by its estimate."
    if pick.certificate.gap < 1.0:
        told += f" It is proven that no model is better by more than {rounded_up(pick.certificate.gap)}."
    return told


def _behind(pick: Pick, entry: Standing) -> float:
    """By how much a model is behind the pick: by what is measured, or mistakes."""
    return entry.estimate - pick.standing[0].estimate if entry.gap is None else entry.gap


def standing_rows(
    pick: Pick, entries: Sequence[Standing], colours: Mapping[ModelName, str] = MappingProxyType({})
) -> str:
    """Some models, on one scale."""
    others = [entry for entry in entries if entry is not pick.standing[0]]
    lows = [entry.low for entry in others if entry.low is not None]
    highs = [entry.high for entry in others if entry.high is not None]
    ends = [0.0, *lows, *highs, *(_behind(pick, entry) for entry in others)]
    low, high = min(ends), max(ends)
    if pick.weighted:
        low, high = max(low, -1.0), min(high, 1.0)
    span = (high - low) or 1.0
    body = "".join(_row(pick, entry, low, span, colours.get(entry.model, "other")) for entry in entries)
    head = "behind" if pick.weighted else f"more {_lost(pick)}"
    return (
        f"<table class=board><thead><tr><th>model</th><th>{head}</th><th class=wide></th>"
        f"<th class=roomy>labels</th></tr></thead><tbody>{body}</tbody></table>"
    )


def _row(pick: Pick, entry: Standing, low: float, span: float, colour: str) -> str:
    """One model: its name, its gap, its bar, and what that rests on."""

    def at(value: float) -> float:
        return min(100.0, max(0.0, 100.0 * (value - low) / span))

    best = entry is pick.standing[0]
    behind = _behind(pick, entry)
    marks = [f'<i class=zero style="left:{at(0.0):.2f}%"></i>']
    shown = "pick" if best else f"{behind:,.0f}" if entry.gap is None else _signed(behind)
    if not best:
        if entry.low is not None and entry.high is not None:
            left, right = at(entry.low), at(entry.high)
            marks.append(f'<i class=range style="left:{left:.2f}%;width:{max(0.4, right - left):.2f}%"></i>')
            shown += f"<small>{_signed(entry.low)} to {_signed(entry.high)}</small>"
        else:
            left, right = sorted((at(0.0), at(behind)))
            marks.append(f'<i class=range style="left:{left:.2f}%;width:{right - left:.2f}%"></i>')
    marks.append(f'<i class="dot {colour}" style="left:{at(behind):.2f}%"></i>')
    late = f"<small>joined at item {entry.since + 1:,}</small>" if entry.since else ""
    level = not best and pick.model in pick.tied and entry.model in pick.tied
    tied = "<small>level with the pick</small>" if level else ""
    return (
        f"<tr{' class=best' if best else ''}><td>{safe(cut(entry.model, 60))}{late}{tied}</td><td>{shown}</td>"
        f"<td class=wide><span class=track>{''.join(marks)}</span></td><td class=roomy>{entry.labels:,}</td></tr>"
    )


def _signed(share: float) -> str:
    """A gap in percent: two digits behind the point at most."""
    if share > 1.0:
        return "over 100%"
    shown = f"{100 * share:.2f}".rstrip("0").rstrip(".")
    return f"{MINUS if shown.startswith('-') and shown != '-0' else ''}{shown.lstrip('-')}%"


def _macro_f1(pick: Pick, colours: dict[ModelName, str]) -> Iterator[str]:
    """Macro-F1 of the first models, which nothing proves."""
    if not pick.macro_f1:
        return
    first = [entry.model for entry in pick.standing[:BARS] if entry.model in pick.macro_f1]
    ranked = sorted(first, key=lambda model: -pick.macro_f1[model] if pick.macro_f1 else 0.0)
    shown = {model: pick.macro_f1[model] for model in ranked}
    which = (
        f"the first {len(shown):,} models of the leader board" if len(pick.standing) > len(shown) else "each model"
    )
    yield "<section><h2>Macro-F1 (estimated, not certified)</h2>"
    yield f"<p class=quiet>The mean of F1 over the classes, of {which}: from the labels, and from guesses "
    yield "elsewhere. It is not a mean over items, so nothing can be proven about it.</p>"
    yield f"<figure>{bar_chart(shown, 'Macro-F1 of each model, estimated.', colours)}</figure></section>"


# How it came about.


def _course(report: Report, course: Course, colours: dict[ModelName, str]) -> Iterator[str]:
    """Who was recommended after how many labels, how the models stood, and what was proven."""
    if not course.labels or course.labels[-1] < 1:
        return
    yield "<section><h2>How it came about</h2>"
    if len(course.labels) > 1 and any(course.lines.values()):
        what, shown = _lines(report.pick, course)
        yield f"<figure><figcaption>{what}, after that many labels.</figcaption>"
        yield f"{_legend(shown.lines, colours)}{line_chart(shown, colours, what)}</figure>"
    if len([gap for gap in course.proved if gap < 1.0]) > 1:
        goal = None if report.goal is None else report.goal.gap
        told = "How much better than the pick another model could still be, as proven after that many labels."
        told += "" if goal is None else f" The dashed line is the goal, {100 * goal:g}%."
        yield f"<figure><figcaption>{told}</figcaption>{proof_chart(course, goal)}</figure>"
    yield f"<figure><figcaption>In the lead: {_reigns(course, colours)}.</figcaption>"
    yield f"{reign_strip(course, colours)}</figure></section>"


def _lines(pick: Pick, course: Course) -> tuple[str, Course]:
    """What the lines of the chart are: mistakes are counted; other losses on a pool are shares of its items."""
    if course.kind == "weights":
        return "The weight that each model has", course
    if pick.certificate.loss == ACCURACY:
        return f"How many more mistakes each model was estimated to make than {LED}", course
    if pick.certificate.kind != "pool":
        return f"How much more each model was estimated to lose than {LED}, summed over the items", course
    lines = {
        model: tuple(None if value is None else value / pick.rounds for value in line)
        for model, line in course.lines.items()
    }
    return f"{_how_far_behind(pick, LED)}, as estimated", replace(course, kind="shares", lines=lines)


def _legend(models: Iterable[ModelName], colours: dict[ModelName, str]) -> str:
    """The names of the lines, for screens on which there is no room for them at the lines."""
    keys = [
        f'<span><b class="key {colours.get(model, "other")}"></b>{safe(cut(model, NAME_IN_A_LIST))}</span>'
        for model in models
    ]
    return f"<p class=legend>{' '.join(keys)}</p>"


def _reigns(course: Course, colours: dict[ModelName, str]) -> str:
    """Who was recommended, one after the other, in words."""
    reigns = course.reigns
    told = [
        f'<b class="key {colours.get(reign.model, "other")}"></b>{safe(cut(reign.model, NAME_IN_A_LIST))} '
        f"(from {count(reign.first, 'label')} on)"
        for reign in reigns[-MOST_REIGNS:]
    ]
    left = len(reigns) - len(told)
    return "; ".join([f"… {count(left, 'earlier change')}"] * bool(left) + told)


# Slices.


def _slices(table: SliceTable) -> Iterator[str]:
    """The best model of each slice, and whether it is the pick."""
    head = (safe(table.column or "slice"), *HEAD)
    rows = [
        (
            safe(cut(row.value, NAME_IN_A_LIST)),
            f"{row.items:,}",
            f"{row.labels:,}",
            safe(cut(str(row.model), NAME_IN_A_LIST)),
            safe(row.proved if row.state != "undecided" else f"undecided: {row.reason}"),
            safe(row.verdict),
        )
        for row in table
    ]
    yield f"<section><h2>{TITLE}</h2>"
    yield html_table(safe(table.sentence), head, rows, "text")
    yield "</section>"


# The judge, who labelled, and how to repeat it.


def _judge(judge: JudgeQuality | None) -> Iterator[str]:
    """How good the judge was, by class."""
    if judge is None:
        return
    rows = [
        (
            safe(OTHER_CLASS if one.label is None else cut(one.label, NAME_IN_A_LIST)),
            f"{one.labels:,}",
            f"{one.agreed:,}",
            f"{percent(one.agreed / one.labels)}%",
            f"{percent(one.low)} to {percent(one.high)}%",
        )
        for one in judge.classes[:MOST_CLASSES]
    ]
    yield f"<section><h2>The judge</h2><p>{safe(judge.sentence)} {safe(_about_judge(judge))}</p>"
    if rows:
        yield html_table("", ("class of the label", "labels", "judge agreed", "share", "95% interval"), rows)
    if len(judge.classes) > len(rows):
        yield f"<p class=quiet>The {count(len(judge.classes) - len(rows), 'rarer class', 'es')} are left out.</p>"
    yield "</section>"


def _about_judge(judge: JudgeQuality) -> str:
    """What the numbers about a judge mean."""
    told = []
    if judge.silent:
        told.append(f"It says nothing about {count(judge.silent, 'more labelled item')}.")
    if judge.kappa_low is not None and judge.kappa_high is not None:
        told.append(f"The 95% interval of κ is {judge.kappa_low:.2f} to {judge.kappa_high:.2f}.")
    told.append(
        "Labels are bought where models differ: these are the hard items, and on all items the judge may be "
        "better. Whatever it says, what is proven about the models is true."
    )
    return " ".join(told)


def _annotators(report: Report) -> Iterator[str]:
    """Who labelled, and when."""
    if not report.annotators:
        return
    ranked = sorted(report.annotators, key=lambda one: (-one.labels, -one.skipped, one.name))
    rows = [(safe(cut(one.name, 80)), f"{one.labels:,}", f"{one.skipped:,}") for one in ranked[:MOST_ANNOTATORS]]
    rest = ranked[MOST_ANNOTATORS:]
    if rest:
        both = (sum(one.labels for one in rest), sum(one.skipped for one in rest))
        rows.append((f"{len(rest):,} others", f"{both[0]:,}", f"{both[1]:,}"))
    began, ended = _time(report.began), _time(report.ended)
    when = "" if not report.began else f"{began}." if began == ended else f"From {began} to {ended}."
    yield "<section><h2>Who labelled</h2>"
    yield html_table(safe(when), ("annotator", "labels", "skipped"), rows)
    yield "</section>"


def _facts(report: Report) -> Iterable[str]:
    """Settings, versions and commands."""
    facts = {**report.settings, "versions": ", ".join(f"{name} {value}" for name, value in report.versions.items())}
    rows = [(safe(name), safe(cut(value, LONGEST_SETTING))) for name, value in facts.items() if value]
    yield f"<section><h2>{'To repeat it' if report.repeat else 'Versions'}</h2>"
    if report.repeat:
        yield f"<pre>{safe(report.repeat)}</pre>"
    yield html_table("", ("setting", "value"), rows, "text")
    yield "</section>"


def _time(iso: str) -> str:
    """A time for people, to the minute."""
    return f"{iso[:10]} {iso[11:16]} UTC"
