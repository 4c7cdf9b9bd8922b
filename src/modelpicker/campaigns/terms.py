"""What may be changed while a campaign continues: the budget, the goal, the guidelines, whether anybody is asked.

Each change is an event. It holds from there on, and what was decided before stays as it was decided.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from modelpicker.campaigns.setting_options import BY_NAME
from modelpicker.campaigns.settings import CampaignSettings, stopping_rule
from modelpicker.certificates.certificate import Certified
from modelpicker.errors import ConflictError, InputError, brief

CHANGEABLE = ("budget", "stop_when", "paused", "archived", "finished", "guidelines")
LONGEST_GUIDELINES = 10_000


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds now.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://terms", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> campaign.revise(budget=50)
    >>> campaign.terms.budget
    50
    """

    budget: int | None
    stop_when: Certified | None
    paused: bool = False
    """Nobody is asked for labels and no items are taken; answers that are under way still count."""
    archived: bool = False
    """Nothing is taken any more."""
    finished: bool = False
    """Somebody took the result: open questions are withdrawn. Answers that are under way still count."""
    guidelines: str = ""
    """What annotators read beside the item."""

    @classmethod
    def of(cls, settings: CampaignSettings) -> Self:
        """What a campaign begins with."""
        return cls(settings.budget, settings.stop_when)

    @property
    def idle(self) -> bool:
        """Whether nobody is asked for anything."""
        return self.paused or self.archived or self.finished

    def revised(self, changes: Mapping[str, Any]) -> Self:
        """After a change that was checked; a new name is not one of this."""
        known = {name: value for name, value in changes.items() if name in CHANGEABLE}
        if "stop_when" in known:
            known["stop_when"] = stopping_rule(known["stop_when"])
        return replace(self, **known)

    def document(self) -> dict[str, Any]:
        """In a form that JSON can hold."""
        return {
            "budget": self.budget,
            "stop_when": None if self.stop_when is None else self.stop_when.document(),
            "paused": self.paused,
            "archived": self.archived,
            "finished": self.finished,
            "guidelines": self.guidelines,
        }

    def check_asks(self) -> None:
        """Refuse items while nobody is asked."""
        for name, how in (
            ("archived", "restore it first: modelpicker revise … --bring-back, or revise(archived=False)"),
            ("finished", "continue with it first: modelpicker revise … --no-finished, or revise(finished=False)"),
            ("paused", "resume it first: modelpicker revise … --resume, or revise(paused=False)"),
        ):
            if getattr(self, name):
                raise ConflictError(f"the campaign is {name}, and takes no items; {how}.")

    def check_answers(self) -> None:
        """Refuse answers that come too late."""
        if self.archived:
            raise ConflictError("the campaign is archived, and takes no answers; restore it first.")


def check_changes(settings: CampaignSettings, given: Mapping[str, Any], spent: float) -> dict[str, Any]:
    """Changes that make sense, as they are stored; `spent` labels are bought or asked for."""
    if strange := given.keys() - set(CHANGEABLE):
        raise InputError(f"{brief(sorted(strange))} cannot be changed; {', '.join(CHANGEABLE)} can.")
    changes = dict(given)
    for name in ("paused", "archived", "finished"):
        if type(changes.get(name, False)) is not bool:
            raise InputError(f"{name}={brief(changes[name])}: pass true or false.", parameter=name)
    if "guidelines" in changes:
        check_guidelines(changes["guidelines"])
    if "budget" in changes:
        changes["budget"] = BY_NAME["budget"].check(changes["budget"])
        settings.check_paid(changes["budget"])
        if changes["budget"] is not None and changes["budget"] < spent:
            raise ConflictError(
                f"budget {changes['budget']:,}: {spent:,.0f} labels are bought or asked for already; pass at least "
                "that many."
            )
    if "stop_when" in changes:
        rule = stopping_rule(changes["stop_when"])
        if settings.pool is None:
            replace(settings, stop_when=rule).check_goal()
        changes["stop_when"] = None if rule is None else rule.document()
    return changes


def check_guidelines(text: object) -> None:
    """Refuse guidelines that are not text, or too long to be read."""
    if not isinstance(text, str):
        raise InputError(f"guidelines={brief(text)}: pass text.", parameter="guidelines")
    if len(text) > LONGEST_GUIDELINES:
        raise InputError(
            f"guidelines: {len(text):,} characters; pass at most {LONGEST_GUIDELINES:,}.", parameter="guidelines"
        )
