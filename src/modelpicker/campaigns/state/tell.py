"""Answers to queries: stored once, learned, replaced; and labels that are kept for reference."""

from modelpicker.campaigns.events.event_types import Answer, Reference
from modelpicker.campaigns.events.round_states import OPEN, REFERENCE, UNANSWERED, RoundState
from modelpicker.campaigns.state.opinions import KnownAnswers
from modelpicker.campaigns.state.tell_opinion import (
    budget_spent,
    has_opinion,
    needed_of,
    store_label,
    store_opinion,
)
from modelpicker.campaigns.state.transactions import Transaction
from modelpicker.errors import ConflictError
from modelpicker.label import AnyLabel, label_words


def store_answer(change: Transaction, number: int, label: AnyLabel | None, replace: bool, by: str | None) -> None:
    """Store an answer, unless it is there already, and learn it; where several people are asked, an opinion."""
    change.state.terms.check_answers()
    known = change.store.state(number)
    if known is None or known.state == REFERENCE:
        _refer(change, number, label, known, replace, by)
        return
    several = needed_of(change, number) > 1
    if several and known.state in OPEN:
        store_opinion(change, known, label, replace, by)
    elif known.state in UNANSWERED:
        store_label(change, Answer(number, label, by))
    elif known.label != label and not (several and has_opinion(change, number, by, label)):
        _replace(change, known, label, replace, by, several)


def _replace(
    change: Transaction, known: RoundState, label: AnyLabel | None, replace: bool, by: str | None, several: bool
) -> None:
    """Put another answer in the place of the one that is known."""
    if not replace:
        # Whoever labels beside others is not told what those said.
        said = "skipped" if known.label is None else f"labelled {label_words(known.label)}"
        right = f"and {'skipping it' if label is None else label_words(label)} is right."
        what = f"before; pass replace=True (--replace) if that was wrong, {right}"
        discreet = f"round {known.round} was answered {what}"
        raise ConflictError(discreet if several else f"round {known.round} was {said} {what}", discreet=discreet)
    if known.label is None and not several and change.state.left < 1:
        raise budget_spent(known.round)
    change.touched = True
    change.add(Answer(known.round, label, by, replaces=True, of_opinions=several))
    change.state.count(known.round, KnownAnswers(known.label), KnownAnswers(label))


def _refer(
    change: Transaction,
    number: int,
    label: AnyLabel | None,
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
        told = "none" if known.label is None else label_words(known.label)
        what = "pass replace=True (--replace) if that was wrong."
        raise ConflictError(
            f"round {number} has the reference label {told}; {what}",
            discreet=f"round {number} has another reference label; {what}",
        )
    change.touched = True
    change.state.counts.references += known is None
    change.add(Reference(number, label, by, replaces=known is not None))
    if change.before is None:
        change.state.learn_reference(number, label)
