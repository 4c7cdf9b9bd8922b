"""How a pick is made from the state of a pool, or of a campaign on one."""

from dataclasses import replace

from modelpicker.algorithms.pools.outlook import PoolOutlook
from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.pool_state import judged_labels
from modelpicker.algorithms.pools.slices import SlicePicker
from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.judge_quality import JudgeQuality
from modelpicker.campaigns.results.pick import TOO_EARLY, Pick, Standing
from modelpicker.campaigns.results.status import (
    ARCHIVED,
    ASK_ANOTHER,
    PAUSED,
    Status,
    budget_spent,
    certified_status,
    conflicts_status,
    finished_status,
    open_items,
    unsettled_conflicts,
)
from modelpicker.campaigns.state.pool_projection import PoolProjection
from modelpicker.certificates.wording import how_certain, points
from modelpicker.collections.label_checks import listed_models
from modelpicker.encoding import ModelName
from modelpicker.losses import ACCURATE, MOST_CLASSES

# Models are level if their estimates differ by less than this share of an item.
LEVEL = 1e-6
# Models that a remark names.
MOST_NAMED = 4
# Labels are offered in such steps.
FEW = 10


def make_pool_pick(
    pool: PoolPicker, *, budget: int | None, skipped: int, spent: bool, given: int = 0, advice: bool = True
) -> Pick:
    """The pick of a pool.

    Args:
        pool: whatever it was told.
        budget: how many labels may be asked for.
        skipped: how many items nobody could label.
        spent: whether the budget is spent.
        given: how many of its labels existed already: they are not bought.
        advice: whether the certificate also says whether you can stop.
    """
    items, labels, best = len(pool), pool.labels_used, pool.recommended
    behind = pool.standing
    certificate, certified = pool.certificate(pool.confidence), pool.certified
    order = sorted(pool.models, key=lambda name: (name != best, behind[name]))
    made = Pick(
        model=best,
        standing=tuple(
            Standing(
                model=name, estimate=behind[name] * items, gap=behind[name], labels=labels, since=0, covered=items
            )
            for name in order
        ),
        tied=_tied(pool, behind) if labels or certified else tuple(pool.models),
        labels_used=labels - given,
        rounds=items,
        covered=items,
        labels_saved=items - labels - len(pool.open_items),
        pending=len(pool.open_items),
        skipped=skipped,
        references=given,
        budget=budget,
        weighted=True,
        certificate=certificate,
        certified=certified,
        reached=certified,
        state=certified_status(pool.label_noise) if certified else _status(pool, budget, skipped, spent),
        to_go=None if certified and pool.done else pool.labels_to_go(),
        more=what_more_buys(pool, budget) if spent and not certified else None,
        remark=_remark(pool, best),
        judge=measure_judge(pool),
        racing=pool.racing,
        calls=items * len(pool.models) - sum(pool.never_run.values()) if pool.never_run else None,
        saved_per_item=pool.saved_per_item,
        slices=pool.slices if isinstance(pool, SlicePicker) else None,
    )
    return made.with_advice() if advice else made


def measure_judge(pool: PoolPicker) -> JudgeQuality | None:
    """How good the judge of a pool was, against the labels that are known; None if there is no judge."""
    if pool.judge is None:
        return None
    names = pool.classes
    pairs = [(names[code] if code >= 0 else None, names[said]) for code, said in judged_labels(pool)]
    return JudgeQuality.measure(pairs, items=int((pool.judge >= 0).sum()), silent=pool.labels_used - len(pairs))


def campaign_pick(projection: PoolProjection) -> Pick:
    """The pick of a campaign on a pool; `labels_used` are the labels that were asked for."""
    pool, counts, budget = projection.picker, projection.counts, projection.terms.budget
    made = make_pool_pick(pool, budget=budget, skipped=counts.skipped, spent=False, advice=False)
    if projection.terms.archived:
        made = replace(made, state=ARCHIVED)
    elif projection.terms.finished:
        made = replace(made, state=finished_status(made.certified, counts.conflicts, pool.label_noise))
    elif not made.certified or _asks_for_slices(pool):
        made = replace(made, state=PAUSED if projection.terms.paused else _campaign_status(projection))
        if made.state.name == "budget-spent" and not made.certified:
            made = replace(made, more=what_more_buys(pool, budget))
    return replace(
        made,
        reached=made.certified and not _asks_for_slices(pool),
        labels_used=projection.bought,
        references=counts.references,
        pending=counts.waiting,
        conflicts=counts.conflicts,
        labels_saved=len(pool) - counts.labels - counts.references - counts.waiting - counts.conflicts,
        state=replace(made.state, takes_items=not projection.terms.idle),
    ).with_advice()


def _asks_for_slices(pool: PoolPicker) -> bool:
    """Whether labels are still asked for the sake of slices."""
    return isinstance(pool, SlicePicker) and pool.undecided_parts > 0


def _of_slices(pool: PoolPicker) -> str:
    """How many slices labels are still asked for, once the pick is proven; empty if none."""
    if not (isinstance(pool, SlicePicker) and pool.certified and pool.undecided_parts):
        return ""
    found, slices = pool.undecided_parts, len(pool.values)
    are = "is" if found == 1 else "are"
    return f"The pick for all items is proven. {found:,} of {slices:,} slices {are} not decided. "


def _campaign_status(projection: PoolProjection) -> Status:
    """Why a campaign on a pool asks, or does not ask: it is not certified, or slices are not decided."""
    status, more = _asking_status(projection), _of_slices(projection.picker)
    return replace(status, reason=f"{more}{status.reason}") if more else status


def _asking_status(projection: PoolProjection) -> Status:
    pool, counts, budget = projection.picker, projection.counts, projection.terms.budget
    waits = _waits(projection)
    if budget is not None and not projection.can_pay:
        if counts.waiting:
            reason = f"The whole budget of {budget:,} labels was asked for: {waits}."
            return Status("waiting-for-labels", reason, _next_label(projection))
        if counts.conflicts:
            return conflicts_status(counts.conflicts, "The labels of the budget are bought")
        return _spent_unproved(budget, pool, int(projection.left))
    if not pool.left:
        if counts.waiting:
            reason = f"All items on which models differ were asked about: {waits}."
            return Status("waiting-for-labels", reason, _next_label(projection))
        if counts.conflicts:
            return conflicts_status(counts.conflicts, "All items on which models differ were asked about")
        return _status(pool, budget, counts.skipped, spent=False)
    known = counts.labels + counts.references
    told = (
        "No label is known yet"
        if not known
        else "1 label is known"
        if known == 1
        else f"{known:,} labels are known"
    )
    open_ones = f", and {waits}" if counts.waiting else ""
    unsettled = f" {unsettled_conflicts(counts.conflicts)}" if counts.conflicts else ""
    reason = f"{told}{open_ones}. Models differ on {pool.contested:,} items.{unsettled}"
    return Status("running", reason, "Label more items.")


def _waits(projection: PoolProjection) -> str:
    """How many items wait for a label, and how many of them for another person's."""
    return open_items(projection.counts.waiting, projection.opinions.half_answered)


def _next_label(projection: PoolProjection) -> str:
    """What to do about items that wait."""
    if projection.opinions.half_answered == projection.counts.waiting:
        return ASK_ANOTHER
    return "Label the items that wait."


def _spent_unproved(budget: int, pool: PoolPicker, left: int) -> Status:
    """All labels are bought and the goal is not reached: how certain it is by then, and what more would buy."""
    spent = budget_spent(budget)
    if pool.certified:  # only slices are not decided
        return replace(spent, next="Raise the budget, or use what is proven so far.")
    if left:
        few = f"{budget - left:,} of the {budget:,} labels of the budget are bought"
        spent = replace(spent, reason=f"{few}. The rest is too little for another item that several people label.")
    sure = int(100 * pool.reached_confidence)
    wanted = f"within {points(pool.tolerance)} of the best model" if pool.tolerance else "the best model"
    known = f"The goal is not proven yet: a pick that is {wanted} ({how_certain(pool.confidence)})."
    if sure:
        right = ", if all labels are right" if pool.label_noise else ""
        known += f" So far the confidence is {sure}%{right}."
    more = what_more_buys(pool, budget)
    buys = f"{TOO_EARLY[0].upper()}{TOO_EARLY[1:]}." if more is None else more.sentence
    offered = offered_labels(pool, budget)
    step = f"Ask about {offered:,} more (a budget of {budget + offered:,}), or use the pick as it stands."
    return replace(spent, reason=f"{spent.reason} {known} {buys}", next=step)


def offered_labels(pool: PoolPicker, budget: int | None) -> int:
    """How many more labels to offer: enough, if that is not many more than were bought; else half as many again."""
    half = half_again(budget or pool.labels_used)
    to_go = pool.labels_to_go()
    enough = half if to_go is None else -(-to_go.high // FEW) * FEW
    left = pool.contested - pool.labelled_contested
    return max(1, min(left, enough if enough <= 2 * half else half))


def half_again(labels: int) -> int:
    """Half as many labels, in steps of ten."""
    return max(FEW, round(labels / 2 / FEW) * FEW)


def what_more_buys(pool: PoolPicker, budget: int | None) -> PoolOutlook | None:
    """What the labels that are offered would buy; None if it is too early to say."""
    return pool.outlook(offered_labels(pool, budget))


def with_course(pick: Pick, pool: PoolPicker, course: Course | None) -> Pick:
    """The same pick with an interval for every model, and with how it came about."""
    intervals = pool.gap_intervals(pool.confidence)
    standing = [
        replace(entry, low=intervals[entry.model][0], high=intervals[entry.model][1]) for entry in pick.standing
    ]
    kept = None if course is None else course.thinned()
    return replace(pick, standing=tuple(standing), course=kept, macro_f1=estimated_macro_f1(pool))


def estimated_macro_f1(pool: PoolPicker) -> dict[ModelName, float] | None:
    """Macro-F1 of every model, estimated; None for another loss than accuracy, and if answers are free text."""
    return pool.macro_f1() if pool.loss == ACCURATE and len(pool.classes) <= MOST_CLASSES else None


def _tied(pool: PoolPicker, behind: dict[ModelName, float]) -> tuple[ModelName, ...]:
    """The models whose estimates are the smallest."""
    lowest = min(behind.values()) + LEVEL / len(pool)
    return tuple(name for name in pool.models if behind[name] <= lowest)


def _status(pool: PoolPicker, budget: int | None, skipped: int, spent: bool) -> Status:
    """Where a pool stands that is not certified."""
    if budget is not None and spent:
        return _spent_unproved(budget, pool, 0)
    if not pool.done:
        told = "1 label is" if pool.labels_used == 1 else f"{pool.labels_used:,} labels are"
        return Status("running", f"{told} known so far.", "Label more items.", takes_items=False)
    missing = "1 label is" if skipped == 1 else f"{skipped:,} labels are"
    return Status(
        "all-items-asked",
        f"Every item on which models differ was asked about, but {missing} missing.",
        "Use the pick as it stands, or find the missing labels.",
        takes_items=False,
    )


def _best_estimate(pool: PoolPicker) -> ModelName:
    """The model that is thought to be the best, whatever it costs."""
    behind = pool.standing
    return min(behind, key=lambda name: behind[name])


def _not_run(pool: PoolPicker) -> list[str]:
    """Why no label can show that the pick is good enough, if models were not run on too many items."""
    unprovable, counts = pool.unprovable, pool.never_run
    if not unprovable or pool.certified:
        return []
    involved = [name for name in (pool.recommended, *unprovable) if name in counts]
    lacking = ", ".join(f"{name} on {counts[name]:,}" for name in involved[:MOST_NAMED])
    more = f", and {len(involved) - MOST_NAMED:,} more" if len(involved) > MOST_NAMED else ""
    return [
        f"No number of labels can prove the pick: too many models were not run ({lacking}{more} of {len(pool):,} "
        "items). Run them there, or leave them out."
    ]


def _remark(pool: PoolPicker, best: ModelName) -> str:
    """Which models cannot be told from the pick, by name."""
    remarks = _not_run(pool)
    same = next((group for group in pool.identical if best in group), ())
    names = listed_models([str(name) for name in same]) if same else ""
    remarks += [f"{names} give the same answer to every item: no label can tell them apart."] if same else []
    if pool.saved_per_item:
        remarks.append(
            f"{best} costs {pool.saved_per_item:.3g} less per item than {_best_estimate(pool)}, "
            "which has the best estimate."
        )
    return " ".join(remarks)
