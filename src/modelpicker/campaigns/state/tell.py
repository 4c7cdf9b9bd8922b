"""Answers to queries: stored once, learned, replaced; and labels that are kept for reference."""

from modelpicker.campaigns.events.event_store import OPEN, REFERENCE, RoundState
from modelpicker.campaigns.events.event_types import Answer, Reference
from modelpicker.campaigns.state.base import KnownAnswers
from modelpicker.campaigns.state.transactions import Transaction
from modelpicker.encoding import ClassName
from modelpicker.errors import ConflictError


def store_answer(change: Transaction, number: int, label: ClassName | None, replace: bool, by: str | None) -> None:
    """Store an answer, unless it is there already, and learn it."""
    change.state.terms.check_answers()
    known = change.store.state(number)
    if known is None or known.state == REFERENCE:
        _refer(change, number, label, known, replace, by)
        return
    if known.state in OPEN:
        change.touched = True
        change.add(Answer(number, label, by))
        change.state.count(number, None, KnownAnswers(label))
        if change.before is None:  # otherwise it is learned with everything else
            change.state.learn_answer(change.store, number, label)
        return
    if known.label == label:
        return
    said = "skipped" if known.label is None else f"labelled {known.label!r}"
    if not replace:
        raise ConflictError(
            f"round {number} was {said} before; pass replace=True (--replace) if that was wrong, "
            f"and {'skipping it' if label is None else repr(label)} is right."
        )
    if known.label is None and change.state.left < 1:
        raise budget_spent(number)
    change.touched = True
    change.add(Answer(number, label, by, replaces=True))
    change.state.count(number, KnownAnswers(known.label), KnownAnswers(label))


def _refer(
    change: Transaction,
    number: int,
    label: ClassName | None,
    known: RoundState | None,
    replace: bool,
    by: str | None,
) -> None:
    """Keep the label of a round that was not queried."""
    if label is None:
        raise ConflictError(f"round {number} was not queried, so there is nothing to skip.")
    if known is not None and known.label == label:
        return
    if known is not None and not replace:
        raise ConflictError(
            f"round {number} has the reference label {known.label!r}; pass replace=True (--replace) if that "
            "was wrong."
        )
    change.touched = True
    change.state.counts.references += known is None
    change.add(Reference(number, label, by, replaces=known is not None))
    if change.before is None:
        change.state.learn_reference(number, label)


def budget_spent(number: int) -> ConflictError:
    """The error for a query that was skipped, and should now get a label that the budget no longer has."""
    return ConflictError(
        f"round {number} was skipped, which gave its label back to the budget, and the budget is spent by now."
    )
