"""Opinions: stored for each person, made a label when people agree, settled by somebody when they do not."""

from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.events.event_types import Answer, Opinion, Retraction, Withdrawal
from modelpicker.campaigns.events.round_states import CONFLICT, OPEN, REFERENCE, RoundState
from modelpicker.campaigns.state.opinions import ItemOpinions, KnownAnswers, agreed_answer, differ, people_needed
from modelpicker.campaigns.state.transactions import Transaction
from modelpicker.errors import ConflictError
from modelpicker.label import AnyLabel


def needed_of(change: Transaction, number: int) -> int:
    """How many people label a round that was queried."""
    settings, known = change.state.settings, change.state.opinions.of(number)
    if known is not None:
        return known.needed
    return 1 if settings.pool is not None else people_needed(settings.overlap, settings.seed, number)


def _known(change: Transaction, number: int) -> ItemOpinions:
    """What people said about a round that several people label."""
    return change.state.opinions.of(number) or ItemOpinions(needed_of(change, number))


def has_opinion(change: Transaction, number: int, by: str | None, label: AnyLabel | None) -> bool:
    """Whether a person has said just that."""
    said = _known(change, number).said
    return person_of(by) in said and not differ((said[person_of(by)], label))


def store_label(change: Transaction, answer: Answer) -> None:
    """Store the first answer to a query, and learn it."""
    change.touched = True
    change.add(answer)
    change.state.count(answer.round, None, KnownAnswers(answer.label))
    if change.before is None:  # otherwise it is learned with everything else
        change.state.learn_answer(change.store, answer.round, answer.label)


def store_opinion(
    change: Transaction, known: RoundState, label: AnyLabel | None, replace: bool, by: str | None
) -> None:
    """Store what a person says about a round; an answer without a name is that of whoever has leased the round."""
    number, by = known.round, known.leased_by if by is None else by
    found = _known(change, number)
    before = person_of(by) in found.said
    if has_opinion(change, number, by, label):
        return
    if before and not replace:
        raise _said_otherwise(number, by)
    if not before and known.state == CONFLICT:
        raise ConflictError(f"round {number} has all the answers that it needs; another one is not taken.")
    if before and found.said[person_of(by)] is None and change.state.left < 1:
        raise budget_spent(number)
    change.touched = True
    opinion = Opinion(number, label, by, found.needed, replaces=before)
    change.add(opinion)
    change.state.take_opinion(opinion)
    _store_agreed(change, number, by)


def _store_agreed(change: Transaction, number: int, by: str | None) -> None:
    """Store the label of an open round, if what people say about it comes to one; `by` said the last word."""
    agreed = agreed_answer(change.state.settings.overlap_rule, _known(change, number))
    if agreed is not None:
        store_label(change, Answer(number, agreed.label, by, of_opinions=True))


def _said_otherwise(number: int, by: str | None) -> ConflictError:
    if by is None:
        return ConflictError(
            f"round {number} has another answer without a name, and needs those of different people: name the "
            "annotator (--by); or pass replace=True (--replace) if the first answer was wrong."
        )
    return ConflictError(
        f"{person_of(by)!r} answered round {number} in another way before; pass replace=True (--replace) if that "
        "was wrong."
    )


def settle_conflict(change: Transaction, number: int, label: AnyLabel | None, by: str | None) -> None:
    """Decide what a round is that people labelled in different ways, or that waits for more of them."""
    change.state.terms.check_answers()
    known = change.store.state(number)
    if known is None:
        raise ConflictError(f"nobody was asked about round {number}, so there is nothing to settle.")
    if known.state == REFERENCE or needed_of(change, number) < 2:
        raise ConflictError(f"round {number} is labelled by one person: there is nothing to settle.")
    if known.state not in OPEN:
        if differ((known.label, label)):
            raise ConflictError(
                f"round {number} is settled already; pass replace=True (--replace) to tell, to correct its label."
            )
        return
    if not _known(change, number).said:
        raise ConflictError(f"nobody has labelled round {number} yet: there is nothing to settle.")
    store_label(change, Answer(number, label, by, of_opinions=True))


def withdraw(change: Transaction, known: RoundState, by: str | None) -> None:
    """Take back a person's opinion, or all of them if that person gave none; an answer goes with them."""
    number, found = known.round, _known(change, known.round)
    if not found.said:
        raise ConflictError(f"round {number} has no answer to take back.")
    signed = {one.person: one.annotator for one in change.store.opinions(number)}
    going = [person_of(by)] if person_of(by) in found.said else sorted(found.said)
    rest = ItemOpinions(found.needed, {who: label for who, label in found.said.items() if who not in going})
    agreed = agreed_answer(change.state.settings.overlap_rule, rest)
    missing = rest.missing if agreed is None else 0
    paid = sum(found.said[person] is not None for person in going)
    if change.state.left < missing - found.missing - paid:
        raise budget_spent(number)
    change.touched = True
    for person in going:
        event = Withdrawal(number, signed[person], by)
        change.add(event)
        change.state.take_opinion(event)
    if known.state in OPEN or (agreed is not None and not differ((agreed.label, known.label))):
        return  # where more people agree than have to, the label stands
    change.add(Retraction(number, by))
    change.state.count(number, KnownAnswers(known.label), None)
    if agreed is not None:
        store_label(change, Answer(number, agreed.label, by, of_opinions=True))


def budget_spent(number: int) -> ConflictError:
    """The error for a query that should get a label which the budget has spent otherwise since."""
    return ConflictError(
        f"round {number} needs a label that was given back to the budget, as somebody skipped it or did not have "
        "to be asked; the budget is spent by now."
    )
