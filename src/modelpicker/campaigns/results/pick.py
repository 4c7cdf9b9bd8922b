"""What a campaign returns: plain data that comes from a storage here, or over HTTP from a server.

The client needs these, and neither SQLAlchemy nor Arrow: nothing here may import them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from modelpicker.algorithms.pools.outlook import LabelsToGo, PoolOutlook
from modelpicker.algorithms.pools.slice_table import SliceTable
from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.judge_quality import JudgeQuality
from modelpicker.campaigns.results.status import Status
from modelpicker.certificates.certificate import Certificate
from modelpicker.certificates.wording import with_advice
from modelpicker.encoding import ClassName, ModelName
from modelpicker.frames import Backend, make_frame
from modelpicker.label import AnyLabel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOO_EARLY = "it is too early to say how many more labels are needed"
Item: TypeAlias = dict[str, Any]
"""What is shown of an item, by name."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How one model stands.

    >>> import modelpicker as mp
    >>> found = mp.pick("digits", tolerance=0.05)
    >>> found.standing[0].model == found.model
    True
    """

    model: ModelName
    estimate: float
    """The estimated number of mistakes: compare models by differences."""
    gap: float | None
    """How much less accurate than the pick it is, by the estimates; None where those are no estimates of that.

    A share of the rounds in `covered`, of which old ones count less where there is a window. A model that joined
    late is compared, over the rounds since, with the model whose record it took over.
    """
    labels: int
    """How many labels that rests on."""
    since: int
    """The first round that it took part in."""
    covered: float
    """Of how many rounds the gap speaks: where queries have no answer, of the share of those that have one."""
    low: float | None = field(default=None, compare=False)
    """The gap is not smaller than this, where an interval was asked for: for a pool what the labels leave possible,
    for a stream a rough interval of 95 %."""
    high: float | None = field(default=None, compare=False)
    """The gap is not larger than this."""


@dataclass(frozen=True, slots=True)
class Pick:
    """The best model so far, and what that rests on.

    >>> import modelpicker as mp
    >>> found = mp.pick("digits", tolerance=0.02)
    >>> found.model, found.labels_used, found.reached
    ('svm-gaussian', 57, True)
    >>> print(found.certificate.sentence)
    Proven: svm-gaussian is at most 1.94 points less accurate than the best model (95% confidence).
    Of these 1,497 items. You can stop.
    """

    model: ModelName
    standing: tuple[Standing, ...]
    """All models, the pick first, then by their estimates."""
    tied: tuple[ModelName, ...]
    """The models whose estimates are the smallest, and rest on labels; all models before the first label."""
    labels_used: int
    """How many labels people gave; where several people label an item, each of theirs counts."""
    rounds: int
    covered: int
    """Of how many rounds the estimates speak.

    Not among them: rounds that came when the budget was spent or the race was won. Where queries have no answer, it
    is the share of those that have one.
    """
    labels_saved: int
    """How many rounds have no label and wait for none: not asked about, or skipped."""
    pending: int
    skipped: int
    references: int
    budget: int | None
    weighted: bool
    """Whether estimates are of the whole stream; otherwise they count mistakes on labels."""
    certificate: Certificate
    """How certain this is, in a statement that holds whenever you look."""
    certified: bool
    """Whether you can stop: the goal of `stop_when` is proven; without a goal, within 1 point on the items seen."""
    reached: bool | None
    """Whether the goal is reached: that of `stop_when`, or of a race; None where there is no goal."""
    state: Status
    """Where the campaign stands, why, and what to do next."""
    to_go: LabelsToGo | None = field(default=None, compare=False)
    """About how many more labels of a pool are needed; None on a stream, and if it is too early to say."""
    more: PoolOutlook | None = field(default=None, compare=False)
    """What more labels would buy, where the budget of a pool is spent and nothing is proven."""
    remark: str = ""
    """What the algorithm has to say about how it stands; empty if nothing."""
    saved_per_item: float | None = None
    """How much cheaper the pick is, per item, than the model with the best estimate; None without prices."""
    conflicts: int = 0
    """Items on which people disagree; they wait for somebody who settles them."""
    judge: JudgeQuality | None = None
    """How good the judge of a pool was, against the labels that are known; None if there is no judge."""
    racing: tuple[ModelName, ...] = ()
    """The models that are still compared with one another: the others need not be run any more."""
    calls: int | None = field(default=None, compare=False)
    """How many predictions models were asked for; None where that is not known."""
    course: Course | None = field(default=None, compare=False, repr=False)
    """How it came about, where that was noted."""
    slices: SliceTable | None = None
    """The best model of each slice, where slices were asked for."""
    macro_f1: Mapping[ModelName, float] | None = field(default=None, compare=False, repr=False)
    """Macro-F1 of every model of a pool: an estimate, not certified; None where it was not looked up."""

    @property
    def named(self) -> bool:
        """Whether there is a reason for the pick: a label that is known, or a proof that needs none."""
        learned = self.certificate.kind == "pool" and self.references > 0  # which a stream does not learn from
        return self.labelled > 0 or learned or self.certified

    @property
    def no_label_sentence(self) -> str:
        """Why no model is named yet; people may have said something that they do not agree on."""
        return "No label is known yet, so nothing is known about the models."

    def with_advice(self) -> Self:
        """The same pick; its certificate also says that you can stop, or how many more labels are needed."""
        asks = self.state.name in ("running", "waiting-for-labels", "paused")
        more = TOO_EARLY if asks and self.certificate.kind == "pool" else ""
        if self.to_go is not None:
            more = self.to_go.words if self.to_go.high else ""
        reached = self.certified or None if self.reached is None else self.reached
        counted = self.certificate.certain and reached is False  # which proves next to nothing
        sentence = with_advice("" if counted else self.certificate.sentence, reached, more)
        return replace(self, certificate=replace(self.certificate, sentence=sentence))

    @property
    def calls_sentence(self) -> str:
        """Which models need not be run any more, and how many calls of models were saved; empty if none."""
        models = len(self.standing)
        every, parts = self.rounds * models, []
        if 1 < len(self.racing) < models:  # with one left, the status says all
            parts.append(f"{len(self.racing):,} of {models:,} models can still win. The others need not be run.")
        if self.calls is not None and self.calls < every:
            saved = every - self.calls
            parts.append(f"{self.calls:,} of {every:,} calls of models were made, {saved / every:.0%} were saved.")
        return " ".join(parts)

    @property
    def labelled(self) -> int:
        """How many items have a label that was asked for; fewer than `labels_used` where several people label."""
        unasked = self.references if self.certificate.kind == "pool" else 0
        return self.rounds - self.labels_saved - self.pending - self.conflicts - unasked

    def to_frame(self, backend: Backend | None = None) -> Any:
        """How the models stand, one row per model, the pick first.

        A data frame of "pandas", "polars" or "pyarrow": by default of pandas if it is installed, else of PyArrow.

        >>> import modelpicker as mp
        >>> mp.pick("digits", tolerance=0.05).to_frame("pyarrow").num_rows
        58
        """
        return make_frame(
            {
                **{name: [getattr(one, name) for one in self.standing] for name in Standing.__slots__},
                "racing": [one.model in self.racing for one in self.standing],
            },
            backend,
        )

    def plot(self) -> "Figure":
        """How the models stand, and what was proven after how many labels: a figure of matplotlib.

        >>> import modelpicker as mp
        >>> len(mp.pick("digits", tolerance=0.05).plot().axes) > 0
        True
        """
        from modelpicker.campaigns.results.pick_plot import plot_pick

        return plot_pick(self)

    def _repr_html_(self) -> str:
        from modelpicker.campaigns.results.pick_card import pick_card

        return pick_card(self)

    def report(self, title: str = "") -> str:
        """One page for the person who decides, as HTML; `title` names the data.

        The report of a campaign, and that of the file of a pick, also say who labelled and how to repeat it.

        >>> import modelpicker as mp
        >>> page = mp.pick("digits", tolerance=0.05).report("digits")
        >>> page[:15]
        '<!doctype html>'
        """
        from modelpicker.campaigns.results.report import Report
        from modelpicker.campaigns.results.report_page import report_page

        return report_page(Report(title, self))

    def document(self) -> dict[str, Any]:
        """The pick for programs; no model is named before the first label, unless it is proven without one.

        >>> import modelpicker as mp
        >>> mp.pick("digits", tolerance=0.05).document()["state"]["name"]
        'certified'
        """
        return {
            "pick": self.model if self.named else None,
            "tied": list(self.tied),
            "rounds": self.rounds,
            "covered": self.covered,
            "labels_used": self.labels_used,
            "labels_saved": self.labels_saved,
            "pending": self.pending,
            "skipped": self.skipped,
            "references": self.references,
            "conflicts": self.conflicts,
            "budget": self.budget,
            "certificate": self.certificate.document(),
            "certified": self.certified,
            "reached": self.reached,
            "state": self.state.document(),
            "to_go": None if self.to_go is None else self.to_go.document(),
            "more": None if self.more is None else self.more.document(),
            "remark": self.remark,
            "judge": None if self.judge is None else self.judge.document(),
            "racing": list(self.racing),
            "calls": self.calls,
            "saved_per_item": self.saved_per_item,
            "slices": None if self.slices is None else self.slices.document(),
            "standing": [
                {
                    "model": entry.model,
                    "estimate": entry.estimate,
                    "gap": entry.gap,
                    "labels": entry.labels,
                    "since": entry.since,
                    "covered": entry.covered,
                }
                for entry in self.standing
            ],
        }


@dataclass(frozen=True, slots=True)
class Query:
    """A round that waits for its label.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://query-type", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> query = campaign.pending()[0]
    >>> query.key, query.classes
    ('msg-1', ('ham', 'spam'))
    """

    id: int
    item: Item | None
    key: str | None
    classes: tuple[ClassName, ...]
    """What models say about it: annotators need not be shown that."""
    leased_until: float | None
    """When its lease expires, in seconds since 1970."""
    leased_by: str | None
    candidates: tuple[ClassName, ...] = ()
    """The different answers to grade, or the two to compare, in an order that says nothing about the models; empty
    where a class is asked for."""


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """A query and what came of it, or a label that was kept for reference.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://answer-record", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> campaign.answers()[0].state
    'waiting'
    """

    id: int
    key: str | None
    label: AnyLabel | None
    state: str
    """"waiting", "labelled", "skipped", "reference", "conflict" or "withdrawn"."""


@dataclass(frozen=True, slots=True)
class ItemNote:
    """What somebody noted about an item.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://item-note", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> campaign.note(query.id, "Half of it is missing.", annotator="ann")
    >>> note = campaign.notes()[0]
    >>> note.text, note.by
    ('Half of it is missing.', 'ann')
    """

    id: int
    text: str
    """Empty if the item was only flagged."""
    flagged: bool
    """Whether the item should be looked at again."""
    by: str | None
    at: str
    """When: ISO 8601, UTC."""


@dataclass(frozen=True, slots=True)
class GivenOpinion:
    """What one person says about an item that several people label.

    >>> import modelpicker as mp
    >>> items = [["spam", "ham"]] * 6
    >>> campaign = mp.create_campaign("memory://given-opinion", "tickets", pool=items, overlap=2)
    >>> first = campaign.pending(1)[0]
    >>> campaign.tell(first.id, "spam", annotator="ann")
    >>> campaign.tell(first.id, "ham", annotator="bob")
    >>> [(opinion.by, opinion.label) for opinion in campaign.opinions(first.id)]
    [('ann', 'spam'), ('bob', 'ham')]
    """

    by: str | None
    label: AnyLabel | None
    """None if they cannot tell."""
    at: str
    """When it was given: ISO 8601, UTC."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """An item on which people disagree.

    >>> import modelpicker as mp
    >>> items = [["spam", "ham"]] * 6
    >>> campaign = mp.create_campaign("memory://conflict-type", "tickets", pool=items, overlap=2)
    >>> first = campaign.pending(1)[0]
    >>> campaign.tell(first.id, "spam", annotator="ann")
    >>> campaign.tell(first.id, "ham", annotator="bob")
    >>> campaign.conflicts()[0].id == first.id
    True
    """

    id: int
    key: str | None
    item: Item | None
    opinions: tuple[GivenOpinion, ...]
    """What each of them said, in the order in which they said it."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer that holds now, or opinions that are not complete; or an item that was flagged before.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://given-answer", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> campaign.tell(query.id, "ham", annotator="ann")
    >>> given = campaign.labels()[0]
    >>> given.label, given.by
    ('ham', 'ann')
    """

    id: int
    key: str | None
    state: str
    """"labelled", "skipped" or "reference"; "waiting" for somebody, or "withdrawn", if it was flagged or one person
    has answered so far; or "conflict"."""
    label: AnyLabel | None
    by: str | None
    at: str
    """When it was given: ISO 8601, UTC; when the item was flagged, if nobody has answered."""
    item: Item | None
    predictions: dict[ModelName, ClassName | None]
    """What each model said that took part then; None where it abstained."""
    notes: tuple[ItemNote, ...] = ()
    """What people noted about the item, one note each."""
    opinions: tuple[GivenOpinion, ...] = ()
    """What each person said, where several people label the item."""

    @property
    def flagged(self) -> bool:
        """Whether somebody wants the item to be looked at again."""
        return any(note.flagged for note in self.notes)


@dataclass(frozen=True, slots=True)
class LabelFilter:
    """Which answers are wanted; None wants all.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://label-filter", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> campaign.tell(query.id, "ham", annotator="ann")
    >>> len(campaign.labels(mp.LabelFilter(annotator="bob")))
    0
    """

    search: str | None = None
    """Text that is in the key, in any field of the item, or in a note; case does not matter."""
    label: str | None = None
    annotator: str | None = None
    state: str | None = None
    flagged: bool | None = None
    """True: only items that somebody flagged, also those that nobody has answered yet. False: only the others."""


@dataclass
class CampaignCounts:
    """How many labels, skips, references and unanswered queries there are.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://campaign-counts", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> campaign.counts().unanswered
    1
    """

    labels: int = 0
    skipped: int = 0
    references: int = 0
    waiting: int = 0
    withdrawn: int = 0
    """Queries that nobody need answer any more, as the campaign is finished."""
    conflicts: int = 0
    """Items that several people labelled, and not the same way; they wait for somebody who settles them."""

    @property
    def unanswered(self) -> int:
        """Queries without a label."""
        return self.waiting + self.withdrawn + self.conflicts + self.skipped


@dataclass(frozen=True, slots=True)
class AddedItems:
    """What came of items that were added to a pool.

    >>> import modelpicker as mp
    >>> items = [["spam", "ham"]] * 6 + [["ham", "ham"]] * 4
    >>> campaign = mp.create_campaign("memory://added", "tickets", pool=items, tolerance=0.05)
    >>> added = campaign.add_items([["spam", "ham"]])
    >>> added.new, added.known
    (1, 0)
    """

    new: int
    known: int
    """Items that were there already, by their keys."""
    labels: int
    """Labels that came with them, and are known now."""


@dataclass(frozen=True, slots=True)
class AskedFile:
    r"""What came of the items of a file that a stream was asked about.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import modelpicker as mp
    >>> file = Path(tempfile.mkdtemp()) / "items.csv"
    >>> characters = file.write_text("id,bert,gpt\n1,spam,ham\n2,ham,spam\n")
    >>> campaign = mp.create_campaign("memory://asked-file", "tickets", models=["bert", "gpt"])
    >>> found = campaign.ask_file(file)
    >>> found.rounds + found.waiting
    2
    """

    rounds: int
    """Items that were decided about at once."""
    known: int
    """Items that were asked about before, or are kept already."""
    queries: int
    """Labels that are asked for at once."""
    waiting: int
    """Items that are kept: each is decided about when the labels before it are there."""
