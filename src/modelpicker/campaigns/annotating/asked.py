"""What a campaign asks for, and its classes as other tools write them: all of them as text."""

from collections.abc import Sequence
from typing import NamedTuple, Self

from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.setting_options import AskFor
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError
from modelpicker.label import Label, LabelGiven


class Asked(NamedTuple):
    """What is asked for, and the classes that the campaign knows, by how they are written."""

    ask_for: AskFor
    known: dict[str, ClassName]
    folded: dict[str, list[ClassName]]
    numbers: bool
    """Whether classes are whole numbers."""

    @classmethod
    def of(cls, campaign: Campaign) -> Self:
        """Those of a campaign."""
        names = campaign.known_classes()
        folded: dict[str, list[ClassName]] = {}
        for name in names:
            folded.setdefault(str(name).casefold(), []).append(name)
        numbers = any(isinstance(name, int) for name in names)
        return cls(campaign.settings.ask_for, {str(name): name for name in names}, folded, numbers)

    def find(self, text: str) -> ClassName:
        """The class that is meant; a new one, if the campaign does not know it."""
        if text in self.known:
            return self.known[text]
        alike = self.folded.get(text.strip().casefold(), [])
        if len(alike) == 1:
            return alike[0]
        whole = text.strip().removeprefix("-")
        return int(text) if self.numbers and whole.isascii() and whole.isdigit() else text

    def label(self, chosen: Sequence[str]) -> LabelGiven:
        """One class, or several of which each is right."""
        if not chosen:
            raise InputError("no class was chosen.")
        found = list(dict.fromkeys(self.find(text) for text in chosen))
        return found[0] if len(found) == 1 else Label.any_of(*found)
