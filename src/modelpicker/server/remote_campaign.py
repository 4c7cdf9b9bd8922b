"""A campaign on a server: the same words as a campaign that is opened here, over HTTP."""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

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
from modelpicker.certificates.certificate import Certificate, CertificateKind, Certified
from modelpicker.encoding import ClassName, ModelName
from modelpicker.errors import AccessError, ConflictError, NotFoundError
from modelpicker.frames import as_columns
from modelpicker.label import LabelGiven, read_label
from modelpicker.server.client_documents import (
    PredictionRow,
    item_key,
    label_document,
    lease_seconds,
    named_rows,
    path_segment,
    prediction_row,
    read_agreement,
    read_answer,
    read_decision,
    read_opinions,
    read_outlook,
    read_pick,
    read_query,
    read_to_go,
)
from modelpicker.server.transport import Transport

if TYPE_CHECKING:  # a client that is sent no data frame needs neither Arrow nor SQLAlchemy
    from modelpicker.collections.column_roles import Role

MOST = 1_000


class RemoteCampaign:
    """A campaign on a server: it has the methods of `Campaign`, whose docstrings have the examples.

    The example needs a server, so it is run with docs/how-to/service.md:

    >>> import modelpicker as mp
    >>> with mp.Client("http://127.0.0.1:8000") as client:  # doctest: +SKIP
    ...     print(client.campaign("tickets").best().model)
    """

    def __init__(self, transport: Transport, name: str) -> None:
        self.name = name
        self.annotator = f"client-{uuid.uuid4().hex[:12]}"
        """Who leases and answers where nobody else is named."""
        self._transport = transport
        self._path = f"/campaigns/{path_segment(name)}"

    def describe(self) -> dict[str, Any]:
        """What it is made with, how far it has come, which model leads."""
        found: dict[str, Any] = self._transport.call("GET", self._path)
        return found

    @property
    def models(self) -> tuple[ModelName, ...]:
        """The models that take part now."""
        found = self.describe()["models"]
        if found is None:
            raise AccessError(
                f"this token may not see the models of campaign {self.name!r}; use an owner's or a reader's."
            )
        return tuple(found)

    @property
    def racing(self) -> tuple[ModelName, ...]:
        """The models that are still compared with one another: the others need not be run any more."""
        return self.best().racing

    @property
    def classes(self) -> tuple[ClassName, ...] | None:
        """The classes that may occur; None if they are whatever is said."""
        found = self.describe()["classes"]
        return None if found is None else tuple(found)

    @property
    def budget(self) -> int | None:
        """How many labels may be bought; None if there is no limit."""
        found: int | None = self.describe()["budget"]
        return found

    @property
    def rounds(self) -> int:
        """How many rounds there have been."""
        return int(self.describe()["rounds"])

    def known_classes(self) -> list[ClassName]:
        """The classes that a label may be: those given, or all that models and people have said so far."""
        found: list[ClassName] = self._transport.call("GET", f"{self._path}/classes")["classes"]
        return found

    def counts(self) -> CampaignCounts:
        """How many labels, skips, references and unanswered queries there are."""
        found = self.describe()
        same = {name: found[name] for name in ("skipped", "references", "withdrawn", "conflicts")}
        return CampaignCounts(labels=found["labels_known"], waiting=found["pending"], **same)

    def answers(self) -> list[AnswerRecord]:
        """All queries with their labels, and labels that were kept for reference, in the order of the rounds."""
        found = self._transport.call("GET", f"{self._path}/answers")["answers"]
        return [AnswerRecord(**one | {"label": read_label(one["label"])}) for one in found]

    def ask(
        self,
        predictions: PredictionRow,
        *,
        item: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Decision:
        """Decide the next round; it is on the server's disk when this returns."""
        body = {"predictions": prediction_row(predictions), "item": item, "key": item_key(key)}
        return read_decision(self._transport.call("POST", f"{self._path}/rounds", body))

    def ask_many(
        self,
        predictions: object,
        *,
        items: Sequence[Mapping[str, Any] | None] | None = None,
        keys: Sequence[str | None] | None = None,
    ) -> list[Decision]:
        """Decide many rounds in one transaction: rows of predictions, or a data frame as a campaign takes it."""
        rows: Any = predictions
        columns = as_columns(predictions)
        if columns is not None:
            from modelpicker.campaigns.input.batches import frame_batch

            described = self.describe()
            batch = frame_batch(columns, described["models"], missing=described["missing"])
            rows = named_rows(batch.predictions, described["models"])
            items, keys = items or batch.items, keys or batch.keys
        body = {
            "predictions": [prediction_row(row) for row in rows],
            "items": None if items is None else list(items),
            "keys": [item_key(key) for key in (keys or [None] * len(rows))],
        }
        return [
            read_decision(made)
            for made in self._transport.call("POST", f"{self._path}/rounds/batch", body)["decisions"]
        ]

    def tell(
        self, id: int | str, label: LabelGiven | None, *, replace: bool = False, annotator: str | None = None
    ) -> None:
        """Tell the label of a query, by its id or its key; None is a skip."""
        if label is None:
            self.skip(id, replace=replace, annotator=annotator)
            return
        body = {"id": id, "label": label_document(label), "replace": replace, "annotator": annotator}
        self._transport.call("POST", f"{self._path}/labels", body)

    def tell_many(
        self,
        labels: Mapping[Any, LabelGiven | None] | Iterable[tuple[int | str, LabelGiven | None]],
        *,
        replace: bool = False,
        annotator: str | None = None,
    ) -> None:
        """Tell many labels: all of them, or none if one cannot be."""
        given = labels.items() if isinstance(labels, Mapping) else labels
        pairs = [[called, label_document(label)] for called, label in given]
        body = {"labels": pairs, "replace": replace, "annotator": annotator}
        self._transport.call("POST", f"{self._path}/labels/batch", body)

    def skip(self, id: int | str, *, replace: bool = False, annotator: str | None = None) -> None:
        """Say that nobody can tell the label of a query."""
        body = {"id": id, "replace": replace, "annotator": annotator}
        self._transport.call("POST", f"{self._path}/skips", body)

    def retract(
        self, id: int | str, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> None:
        """Take back the answer to a query, which then waits again; with a lease, for the annotator alone."""
        body = {"id": id, "lease": lease_seconds(lease), "annotator": annotator}
        self._transport.call("POST", f"{self._path}/retractions", body, done=ConflictError)

    def pending(
        self, most: int | None = None, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> list[Query]:
        """Queries that wait, oldest first: a thousand at most, or as many as are leased, one by default.

        With a lease, they are kept from others for that many seconds. Only then is anything new asked: about the
        next item of a pool, or of a file that a stream asks about as labels come.
        """
        if lease is None:
            found = self._transport.call("GET", f"{self._path}/queries?most={MOST if most is None else most}")
        else:
            by = annotator or self.annotator
            body = {"most": 1 if most is None else most, "seconds": lease_seconds(lease), "annotator": by}
            found = self._transport.call("POST", f"{self._path}/leases", body)
            while found["deciding"]:  # many items of a file need no label
                found = self._transport.call("POST", f"{self._path}/leases", body)
        return [read_query(one, found["ask_for"]) for one in found["queries"]]

    def release(self, *ids: int | str) -> None:
        """Give leased queries back."""
        for called in ids:
            number = next(self.history(called))["id"] if isinstance(called, str) else called
            self._transport.call("DELETE", f"{self._path}/leases/{number}")

    def best(self) -> Pick:
        """The best model so far, how every model stands, and what that rests on."""
        return read_pick(self._transport.call("GET", f"{self._path}/standing"))

    def labels_to_go(self) -> LabelsToGo | None:
        """About how many more labels a pool needs; None on a stream, and if it is too early to say."""
        return read_to_go(self.describe()["to_go"])

    def outlook(self, labels: int) -> PoolOutlook | None:
        """What that many more labels of a pool would buy; None on a stream, and if it is too early to say."""
        asked = urlencode({"labels": labels})
        return read_outlook(self._transport.call("GET", f"{self._path}/outlook?{asked}")["outlook"])

    def certificate(self, confidence: float = 0.95, kind: CertificateKind = "stream") -> Certificate:
        """How certain the pick is, in a statement that holds whenever you look."""
        asked = urlencode({"confidence": confidence, "kind": kind})
        return Certificate(**self._transport.call("GET", f"{self._path}/certificate?{asked}"))

    def history(self, id: int | str | None = None) -> Iterator[dict[str, Any]]:
        """Everything that happened, in order, fetched page by page; or all that happened to one round."""
        if id is not None:
            asked = urlencode({"key" if isinstance(id, str) else "id": id})
            yield from self._transport.call("GET", f"{self._path}/history?{asked}")["records"]
            return
        after: int | None = 0
        while after is not None:
            page = self._transport.call("GET", f"{self._path}/history?after={after}&most=1000")
            yield from page["records"]
            after = page["next"]

    def join(self, model: ModelName) -> None:
        """Let another model take part from the next round on."""
        self._transport.call("POST", f"{self._path}/models", {"model": model}, done=ConflictError)

    def leave(self, model: ModelName) -> None:
        """Let a model no longer take part."""
        self._transport.call("DELETE", f"{self._path}/models/{path_segment(model)}", done=NotFoundError)

    def revise(self, *, name: str | None = None, annotator: str | None = None, **changes: Any) -> None:
        """Change `budget`, `stop_when`, `paused`, `archived`, `finished`, `guidelines` or the name, all at once."""
        if isinstance(changes.get("stop_when"), Certified):
            changes["stop_when"] = changes["stop_when"].document()
        if name is None:
            self._transport.call("PATCH", self._path, {**changes, "annotator": annotator})
            return
        body = {**changes, "name": name, "annotator": annotator}
        self._transport.call("PATCH", self._path, body, done=NotFoundError)
        self.name, self._path = name, f"/campaigns/{path_segment(name)}"

    def finish(self, *, annotator: str | None = None) -> None:
        """Take the result: nobody is asked any more, and open questions are withdrawn."""
        self.revise(annotator=annotator, finished=True)

    def rename(self, name: str, *, annotator: str | None = None) -> None:
        """Call it something else."""
        self.revise(name=name, annotator=annotator)

    def delete(self) -> None:
        """Delete it with everything that belongs to it, permanently; export it before."""
        self._transport.call("DELETE", f"{self._path}?{urlencode({'confirm': self.name})}", done=NotFoundError)

    def labels(self, wanted: LabelFilter = LabelFilter()) -> list[GivenAnswer]:  # noqa: B008 (it is frozen)
        """Every answer that holds now, the newest first: who gave it, when, and what each model said."""
        asked = {name: value for name, value in asdict(wanted).items() if value is not None}
        found: list[GivenAnswer] = []
        while True:
            page = self._transport.call(
                "GET", f"{self._path}/labels?{urlencode({**asked, 'first': len(found), 'most': MOST})}"
            )
            found += [read_answer(one) for one in page["labels"]]
            if not page["labels"] or len(found) >= page["total"]:
                return found

    def conflicts(self) -> list[Conflict]:
        """The items on which people disagree, with what each of them said; `settle` decides."""
        found: list[Conflict] = []
        while True:
            page = self._transport.call("GET", f"{self._path}/conflicts?first={len(found)}&most={MOST}")
            found += [Conflict(**one | {"opinions": read_opinions(one)}) for one in page["conflicts"]]
            if not page["conflicts"] or len(found) >= page["total"]:
                return found

    def settle(self, id: int | str, label: LabelGiven | None, *, annotator: str | None = None) -> None:
        """Decide what an item is on which people disagree; None if nobody can tell."""
        body = {"id": id, "label": label_document(label), "annotator": annotator}
        self._transport.call("POST", f"{self._path}/settlements", body)

    def agreement(self) -> Agreement:
        """How far people agree on the items that several of them labelled."""
        return read_agreement(self._transport.call("GET", f"{self._path}/agreement"))

    def note(self, id: int | str, text: str = "", *, flagged: bool = False, annotator: str | None = None) -> None:
        """Note something about an item that was asked about; without a text and a flag, the note is taken back."""
        body = {"id": id, "text": text, "flagged": flagged, "annotator": annotator}
        self._transport.call("POST", f"{self._path}/notes", body)

    def notes(self) -> list[ItemNote]:
        """What people have noted about items, the newest first."""
        return [ItemNote(**one) for one in self._transport.call("GET", f"{self._path}/notes")["notes"]]

    def ask_file(self, source: str | Path, *, at_once: bool = False) -> AskedFile:
        """Send a file of predictions: its items are asked about as labels come, or all decided about `at_once`."""
        return AskedFile(**self.upload(source, at_once=at_once))

    def upload(
        self, path: str | Path, columns: "Mapping[str, Role] | None" = None, *, at_once: bool = False
    ) -> dict[str, int]:
        """The same, as numbers; a pool adds the items.

        `columns` may say which column is the id, and which are left out instead of shown.
        """
        path = Path(path)
        asked = {"filename": path.name} | ({"columns": json.dumps(dict(columns))} if columns else {})
        asked |= {"at_once": "true"} if at_once else {}
        found: dict[str, int] = self._transport.send(f"{self._path}/files?{urlencode(asked)}", path.read_bytes())
        return found

    def waiting_items(self) -> dict[str, int]:
        """How many items of each file wait to be asked about, in their order."""
        found: dict[str, int] = self.describe()["waiting_items"]
        return found

    def drop_items(self, *, annotator: str | None = None) -> int:
        """Ask about none of the items of files that wait; how many they were."""
        asked = {} if annotator is None else {"annotator": annotator}
        return int(self._transport.call("DELETE", f"{self._path}/files?{urlencode(asked)}")["dropped"])

    def export(self, path: str | Path) -> None:
        """Save the whole campaign to a file, `.jsonl` or `.parquet`."""
        path = Path(path)
        form = "parquet" if path.suffix.lower() in (".parquet", ".pq") else "jsonl"
        path.write_bytes(self._transport.fetch(f"{self._path}/export?format={form}"))

    def report(self) -> str:
        """One page for the person who decides, as HTML."""
        return self._transport.fetch(f"{self._path}/report").decode()
