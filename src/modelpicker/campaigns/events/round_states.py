"""What may be known about a round: whether it waits for an answer, has one, or needs none."""

from typing import NamedTuple

from modelpicker.label import AnyLabel

# States of an answer. Waiting queries have none yet, and those that were withdrawn need none, as the campaign is
# finished; references are labels of rounds that were never queried; of a round in conflict people said different
# things.
WAITING, LABELLED, SKIPPED, REFERENCE, WITHDRAWN, CONFLICT = range(6)
STATE_NAMES = ("waiting", "labelled", "skipped", "reference", "withdrawn", "conflict")
UNANSWERED = (WAITING, WITHDRAWN)
OPEN = (*UNANSWERED, CONFLICT)


class RoundState(NamedTuple):
    """What is known about a round that was queried or answered."""

    round: int
    state: int
    label: AnyLabel | None
    leased_until: float | None
    leased_by: str | None
