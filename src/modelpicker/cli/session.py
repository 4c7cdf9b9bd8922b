"""A person being asked for labels: each answer is on the disk before the next question."""

from dataclasses import dataclass, replace
from typing import Any

from modelpicker.algorithms import Algorithm, Decision
from modelpicker.certificates.certificate import Certified
from modelpicker.certificates.recorder import Past
from modelpicker.cli.journal import Journal, begun_options
from modelpicker.cli.picking import Pick, Settings, header, in_order, make_picker, summary
from modelpicker.cli.shared import prompts
from modelpicker.cli.shared.terminal import count, say, visible
from modelpicker.collections import ModelCollection
from modelpicker.collections.wide_tables import CollectionReader
from modelpicker.errors import ConflictError
from modelpicker.kernels.primitives import ABSTAINED


@dataclass
class Question:
    """A query, and what to go back to if its answer is undone."""

    decision: Decision
    place: int
    """Where the query's line begins in the journal."""
    label: int | None = None
    """What was answered; None for a skip."""
    asked: bool = True
    """Whether a person was asked; not where the label was known before."""


class Session:
    """A person being asked, from where the journal ends until the stream, the budget or the patience does."""

    def __init__(
        self,
        collection: ModelCollection,
        order: list[int] | None,
        journal: Journal,
        result: Pick,
        *,
        use_known: bool,
    ) -> None:
        self.collection = collection
        self.known = collection.labels if use_known else None
        self.order = order
        self.journal = journal
        self.result = result
        self.keys = prompts.Keys(collection.classes)
        self.answered: list[Question] = []

    def replay(self) -> None:
        """Take up every decision of the journal; each must be the one that is made here."""
        for entry, place in zip(self.journal.rounds, self.journal.places, strict=True):
            question = self._observe(place) if self.result.rounds < len(self.collection) else None
            if question is None or not self._same(question.decision, entry):
                raise ConflictError(
                    f"{self.journal.path}, round {entry['round']}: another decision than the one made now; it was "
                    "changed, or is of another version of modelpicker. Pass another --out to start anew."
                )
            if question.decision.query:
                name = entry["label"]
                answer = None if name is None else self.keys.add(str(name))
                question.asked = self._known(question) is None
                self._learn(question, answer.label if answer else None)
        if self.answered:
            say(f"Going on with {count(self.result.labels_used, 'label')} from before.")

    def _same(self, decision: Decision, entry: dict[str, Any]) -> bool:
        """Whether a line of the journal is of this very decision."""
        made = self._entry(decision)
        return made == {key: entry.get(key) for key in made} and decision.query == ("label" in entry)

    def converse(self) -> None:
        """Ask until there is nothing left to ask."""
        question: Question | None = None
        while question is not None or self._more():
            question = question or self._observe(self.journal.place())
            if not question.decision.query:
                self.journal.write(self._entry(question.decision))
                question = None
                continue
            known = self._known(question)
            question.asked = known is None
            answer = self._ask(question.decision) if known is None else prompts.Reply(label=known)
            if answer.command == prompts.QUIT:
                self.result.stopped = "quit"
                self.journal.undo_to(question.place)
                return
            if answer.command == prompts.UNDO:
                question = self._undo(question)
                continue
            label = answer.label
            name = None if label is None else self.keys.classes[label]
            self.journal.write(self._entry(question.decision) | {"label": name})
            self.journal.secure()
            self._learn(question, label)
            question = None

    def _known(self, question: Question) -> int | None:
        """The label of a query, if it was known before."""
        label = ABSTAINED if self.known is None else int(self.known[question.decision.round])
        return None if label == ABSTAINED else label

    def _more(self) -> bool:
        """Whether there is a round left, a label to spend on it, and something left to find out."""
        if self.result.picker.finished:
            self.result.stopped = "won"
            return False
        if self.result.rounds == len(self.collection):
            return False
        budget = self.result.settings.budget
        if budget is not None and self.result.labels_used >= budget:
            self.result.stopped = "budget"
            return False
        rule = self.result.settings.stop_when
        if rule is not None and self._certified(rule):
            self.result.stopped = "certified"
            return False
        return True

    def _certified(self, rule: Certified) -> bool:
        """Whether the pick is, as the rule wants it."""
        picker = self.result.picker
        return picker.recorder.meets(picker.models.index(picker.recommended), rule, Past(len(picker.models)))

    def _observe(self, place: int) -> Question:
        picker = self.result.picker
        decision = picker.observe(self.collection.predictions[picker.rounds])
        return Question(decision, place)

    def _learn(self, question: Question, label: int | None) -> None:
        decision, result = question.decision, self.result
        result.picker.learn(decision.round, label)
        question.label = label
        if label is None:
            result.unanswered[decision.round] = decision.probability
        else:
            result.labelled[decision.round] = self.collection.predictions[decision.round] != label
        result.known += not question.asked
        self.answered.append(question)

    def _undo(self, question: Question) -> Question:
        """Back to the query that was answered last, as if it had just been asked."""
        if not any(one.asked for one in self.answered):
            say("There is nothing to undo.")
            return question
        last = self._forget()
        while not last.asked:  # labels that were known are used again without a question
            last = self._forget()
        self.result.picker = self._before(last)
        self.journal.undo_to(last.place)
        return last

    def _forget(self) -> Question:
        """The last query is as if it had not been answered."""
        last = self.answered.pop()
        self.result.unanswered.pop(last.decision.round, None)
        self.result.labelled.pop(last.decision.round, None)
        self.result.known -= not last.asked
        return last

    def _before(self, last: Question) -> Algorithm:
        """The picker as it was when it asked: a new one that is told the same."""
        picker = make_picker(self.collection, self.result.settings, asks=True)
        known = {question.decision.round: question.label for question in self.answered}
        for row in self.collection.predictions[: last.decision.round + 1]:
            decision = picker.observe(row)
            if decision.round in known:
                picker.learn(decision.round, known[decision.round])
        return picker

    def _ask(self, decision: Decision) -> prompts.Reply:
        number, result = decision.round, self.result
        budget = "" if result.settings.budget is None else f" of {result.settings.budget:,}"
        tied = result.tied()
        lead = f" · {result.picker.recommended} leads" if len(tied) == 1 else f" · {len(tied)} models tied"
        labels = f"{result.labels_used:,}{budget} labels" if budget else count(result.labels_used, "label")
        head = visible(f"item {number + 1:,} of {result.items:,} · {labels}{lead if result.labels_used else ''}")
        fields = {name: values[number] for name, values in self.collection.fields.items()}
        said = sorted({code for code in self.collection.predictions[number].tolist() if code >= 0})
        return prompts.ask(head, fields or {"row": self._item(number) + 1}, self.keys, said)

    def _item(self, number: int) -> int:
        return number if self.order is None else self.order[number]

    def _entry(self, decision: Decision) -> dict[str, Any]:
        """A decision as the journal has it."""
        code = decision.prediction
        return {
            "round": decision.round,
            "item": self._item(decision.round),
            "query": decision.query,
            "probability": decision.probability,
            "prediction": None if code is None else self.collection.classes[int(code)],
            "recommended": decision.recommended,
        }


def ask_person(source: ModelCollection | CollectionReader, settings: Settings, *, use_known: bool = False) -> Pick:
    """Ask for each label at the terminal; what was answered before is taken from the result file.

    Labels that the collection has are used, and not asked for again, if `use_known`.
    """
    settings = replace(settings, options=begun_options(settings.out, settings.algorithm) | settings.options)
    whole = source.read() if isinstance(source, CollectionReader) else source
    collection, order = in_order(whole, settings)
    picker = make_picker(collection, settings, asks=True)
    journal = Journal(settings.out, header(whole, settings, picker, "asked"))
    result = Pick(settings, picker, len(collection), len(collection))
    session = Session(collection, order, journal, result, use_known=use_known)
    journal.go_on()
    try:
        session.replay()
        session.converse()
        if session.result.stopped != "quit":
            journal.write(summary(session.result))
    except KeyboardInterrupt:
        say("", f"Stopped. Your answers are in {journal.path}; the same command goes on from there.")
        raise
    finally:
        journal.close()
    return session.result
