"""What every campaign can do, wherever it is: in a storage of this machine, or on a server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from modelpicker.algorithms import Decision, LabelsToGo, PoolOutlook
from modelpicker.campaigns.results.agreement import Agreement
from modelpicker.campaigns.results.pick import (
    AnswerRecord,
    AskedFile,
    CampaignCounts,
    Conflict,
    GivenAnswer,
    ItemNote,
    LabelFilter,
    Pick,
    Query,
)
from modelpicker.certificates.certificate import Certificate, CertificateKind
from modelpicker.encoding import ClassName, ModelName
from modelpicker.label import LabelGiven


class AnyCampaign(Protocol):
    """`Campaign` and `RemoteCampaign`: code that is written for this works with both.

    >>> import modelpicker as mp
    >>> def first_key(campaign: mp.AnyCampaign) -> str | None:
    ...     return campaign.pending()[0].key
    >>> campaign = mp.create_campaign("memory://any", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> first_key(campaign)
    'msg-1'
    """

    name: str

    @property
    def models(self) -> tuple[ModelName, ...]:
        """The models that take part now."""

    @property
    def racing(self) -> tuple[ModelName, ...]:
        """The models that are still compared with one another: the others need not be run any more."""

    @property
    def classes(self) -> tuple[ClassName, ...] | None:
        """The classes that may occur; None if they are whatever is said."""

    @property
    def budget(self) -> int | None:
        """How many labels may be bought; None if there is no limit."""

    @property
    def rounds(self) -> int:
        """How many rounds there have been."""

    def known_classes(self) -> list[ClassName]:
        """The classes that a label may be: those given, or all that models and people have said so far."""

    def ask(self, predictions: Any, *, item: Mapping[str, Any] | None = None, key: str | None = None) -> Decision:
        """Decide the next round. It is on disk when this returns."""

    def ask_many(
        self,
        predictions: Any,
        *,
        items: Sequence[Mapping[str, Any] | None] | None = None,
        keys: Sequence[str | None] | None = None,
    ) -> Sequence[Decision]:
        """Decide many rounds in one transaction."""

    def ask_file(self, source: Any, *, at_once: bool = False) -> AskedFile:
        """Ask about the items of a file as labels come; or decide about all of them at once."""

    def waiting_items(self) -> dict[str, int]:
        """How many items of each file wait to be asked about, in their order."""

    def drop_items(self, *, annotator: str | None = None) -> int:
        """Ask about none of the items of files that wait; how many they were."""

    def tell(
        self, id: int | str, label: LabelGiven | None, *, replace: bool = False, annotator: str | None = None
    ) -> None:
        """Take in the label of a query, by its id or its key; None is a skip."""

    def tell_many(
        self,
        labels: Mapping[Any, LabelGiven | None] | Iterable[tuple[int | str, LabelGiven | None]],
        *,
        replace: bool = False,
        annotator: str | None = None,
    ) -> None:
        """Take in many labels: all of them, or none if one is refused."""

    def skip(self, id: int | str, *, replace: bool = False, annotator: str | None = None) -> None:
        """Say that nobody can tell the label of a query."""

    def retract(
        self, id: int | str, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> None:
        """Take back the answer to a query, which then waits again."""

    def pending(
        self, most: int | None = None, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> list[Query]:
        """Queries that wait for an answer, oldest first."""

    def release(self, *ids: int | str) -> None:
        """Give leased queries back."""

    def labels_to_go(self) -> LabelsToGo | None:
        """About how many more labels a pool needs; None on a stream, and if it is too early to say."""

    def outlook(self, labels: int) -> PoolOutlook | None:
        """What that many more labels of a pool would buy; None on a stream, and if it is too early to say."""

    def answers(self) -> list[AnswerRecord]:
        """All queries with their labels, and labels that were kept for reference."""

    def counts(self) -> CampaignCounts:
        """How many labels, skips, references and unanswered queries there are."""

    def best(self) -> Pick:
        """The best model so far, how every model stands, and what that rests on."""

    def certificate(self, confidence: float = 0.95, kind: CertificateKind = "stream") -> Certificate:
        """How certain the pick is, in a statement that holds whenever you look."""

    def history(self, id: int | str | None = None) -> Iterator[dict[str, Any]]:
        """Everything that happened, in order; or all that happened to one round."""

    def join(self, model: ModelName) -> None:
        """Let another model take part from the next round on."""

    def leave(self, model: ModelName) -> None:
        """Let a model no longer take part, from the next round on."""

    def revise(self, *, name: str | None = None, annotator: str | None = None, **changes: Any) -> None:
        """Change the budget, the goal, the guidelines, or whether anybody is asked; it holds from here on."""

    def finish(self, *, annotator: str | None = None) -> None:
        """Take the result: nobody is asked any more, and open questions are withdrawn."""

    def rename(self, name: str, *, annotator: str | None = None) -> None:
        """Call it something else."""

    def labels(self, wanted: LabelFilter = LabelFilter()) -> list[GivenAnswer]:  # noqa: B008 (it is frozen)
        """Every answer that holds now, the newest first."""

    def note(self, id: int | str, text: str = "", *, flagged: bool = False, annotator: str | None = None) -> None:
        """Note something about an item that was asked about; nothing is learned from it."""

    def notes(self) -> list[ItemNote]:
        """What people have noted about items, the newest first."""

    def conflicts(self) -> list[Conflict]:
        """The items on which people disagree, with what each of them said."""

    def settle(self, id: int | str, label: LabelGiven | None, *, annotator: str | None = None) -> None:
        """Decide what an item is on which people disagree; None if nobody can tell."""

    def agreement(self) -> Agreement:
        """How far people agree on the items that several of them labelled."""

    def export(self, path: str | Path) -> None:
        """Write the whole campaign to a file, `.jsonl` or `.parquet`."""

    def report(self) -> str:
        """One page for the person who decides, as HTML."""
