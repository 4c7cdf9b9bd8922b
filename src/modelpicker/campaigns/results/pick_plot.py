"""A pick as a picture: how the models stand, and what was proven after how many labels."""

from typing import TYPE_CHECKING

from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.results.report import cut
from modelpicker.pictures import BLUE, GREEN, GREY, INK, QUIET, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MODELS, NAME = 20, 24


def plot_pick(pick: Pick) -> Picture:
    """The picture."""
    course = pick.course
    proved = course is not None and sum(gap < 1.0 for gap in course.proved) > 1
    shown = min(len(pick.standing), MOST_MODELS)
    size = (10 if proved else 6.5, max(2.6, 1.2 + 0.28 * shown))
    figure = Picture(figsize=size, layout="constrained", facecolor="white")
    axes = figure.subplots(1, 2 if proved else 1, squeeze=False)[0]
    _plot_standing(axes[0], pick)
    if course is not None and proved:
        _plot_proof(axes[1], pick, course)
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        each.tick_params(colors=QUIET)
    return figure


def _plot_standing(axes: "Axes", pick: Pick) -> None:
    """A dot per model with its interval, the pick on top."""
    entries = pick.standing[:MOST_MODELS]
    best = entries[0]
    share = best.gap is not None
    for place, entry in enumerate(entries):
        behind = entry.estimate - best.estimate if entry.gap is None else 100 * entry.gap
        if entry.low is not None and entry.high is not None and entry is not best:
            axes.plot([100 * entry.low, 100 * entry.high], [place, place], color=GREY, lw=4, alpha=0.45)
        axes.plot(behind, place, "o", color=BLUE if entry is best else GREY, markersize=7)
    axes.axvline(0, color=QUIET, lw=0.8)
    axes.set_yticks(range(len(entries)), [cut(entry.model, NAME) for entry in entries], parse_math=False)
    axes.invert_yaxis()
    axes.set_xlabel("behind the pick (%)" if share else "more mistakes than the pick", color=INK)
    left_out = len(pick.standing) - len(entries)
    more = f" ({left_out:,} more are left out)" if left_out else ""
    axes.set_title(f"{cut(best.model, NAME)} after {pick.labels_used:,} labels{more}", parse_math=False)


def _plot_proof(axes: "Axes", pick: Pick, course: Course) -> None:
    """By how much another model could still be better, over labels."""
    points = [(labels, 100 * gap) for labels, gap in zip(course.labels, course.proved, strict=True) if gap < 1.0]
    axes.step(*zip(*points, strict=True), where="post", color=GREEN, lw=2)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("labels", color=INK)
    axes.set_title(f"proven gap (%), confidence {100 * pick.certificate.confidence:g}%", parse_math=False)
