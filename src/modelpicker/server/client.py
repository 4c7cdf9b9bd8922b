"""A client for the service: the same words as a campaign that is opened here, over HTTP.

Whatever goes wrong on the way, a call is tried again until it is answered or the patience is spent, and that is
safe: every item is asked with a key (one is made up where none is given), a label told twice counts once, and where
a second try is told that it is done already, the first has done it.
"""

import json
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias
from urllib.parse import quote, urlencode

import numpy.typing as npt

from modelpicker.algorithms import Decision, LabelsToGo, PoolOutlook
from modelpicker.algorithms.budgets import BudgetWay
from modelpicker.campaigns.results.agreement import Agreement, ClassAgreement, PairAgreement
from modelpicker.campaigns.results.pick import (
    AnswerRecord,
    AskedFile,
    CampaignCounts,
    Conflict,
    GivenAnswer,
    GivenOpinion,
    ItemNote,
    LabelFilter,
    Pick,
    Query,
    Standing,
)
from modelpicker.campaigns.results.status import Status
from modelpicker.campaigns.setting_options import POOL_ALGORITHM, SETTINGS
from modelpicker.certificates.certificate import Certificate, CertificateKind, Certified
from modelpicker.encoding import ClassName, ModelName
from modelpicker.errors import AccessError, ConflictError, InputError, NotFoundError
from modelpicker.frames import as_columns
from modelpicker.server.transport import Transport

if TYPE_CHECKING:  # a client that is sent no data frame needs neither Arrow nor SQLAlchemy
    import httpx2

    from modelpicker.collections import ModelCollection
    from modelpicker.collections.column_roles import Role

MOST = 1_000
PredictionRow: TypeAlias = Mapping[Any, ClassName | None] | Sequence[ClassName | None] | npt.NDArray[Any]
"""What models say of an item: by name, or in the order of the models."""


class Client:
    """A server, and the campaigns that it serves.

    Args:
        url: where the server is.
        token: what `modelpicker tokens create` printed; servers on this machine need none.
        timeout: seconds to wait for a connection, and for the server to go on sending or reading.
        patience: seconds after which a call that keeps failing is given up.
        http_client: sends the requests, with its own timeouts, proxy, certificates and headers; you close it.
            Without it, proxies are those of the environment (`HTTPS_PROXY`), certificates those of the system.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 60.0,
        http_client: "httpx2.Client | None" = None,
    ) -> None:
        self._transport = Transport(url, token, timeout, patience, http_client)

    def close(self) -> None:
        """Close its connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def campaigns(self) -> list[dict[str, Any]]:
        """The campaigns of the server, by name."""
        found: list[dict[str, Any]] = self._transport.call("GET", "/campaigns")["campaigns"]
        return found

    def campaign(self, name: str) -> "RemoteCampaign":
        """A campaign that is there."""
        found = RemoteCampaign(self._transport, name)
        found.describe()
        return found

    def create_campaign(
        self,
        name: str,
        *,
        models: Sequence[ModelName] | int | None = None,
        classes: Sequence[ClassName] | None = None,
        budget: int | None = None,
        budget_way: BudgetWay = "paced",
        expected_rounds: int | None = None,
        stop_when: Certified | None = None,
        overlap: float = 1,
        seed: int = 0,
        algorithm: str = "model-picker",
        options: Mapping[str, Any] | None = None,
        pool: str | Path | None = None,
        columns: "Mapping[str, Role] | None" = None,
        tolerance: float | None = None,
        confidence: float | None = None,
        use_labels: bool = False,
        guidelines: str = "",
    ) -> "RemoteCampaign":
        """Begin a campaign; the settings are those of `mp.create_campaign`.

        `pool` is a file, which is sent; `columns` says what its columns are: model, shown, id, label or left out.
        """
        if pool is not None:
            streams = {"models": models, "classes": classes, "expected_rounds": expected_rounds, "options": options}
            if refused := [one for one, value in {**streams, "stop_when": stop_when}.items() if value is not None]:
                raise InputError(f"{refused[0]} does not go with pool; say with columns which columns are models.")
            goal = {"tolerance": tolerance, "confidence": confidence, "budget": budget}
            given = {one: value for one, value in goal.items() if value is not None}
            more = {"overlap": overlap, "use_labels": use_labels, "seed": seed, "guidelines": guidelines}
            return self._create_pool(name, Path(pool), columns, {**given, **more})
        if models is None:
            raise InputError("models: pass the models of the stream, or pool= with a file of items.")
        body: dict[str, Any] = {
            "name": name,
            "guidelines": guidelines,
            "models": models if isinstance(models, int) else list(models),
            "classes": None if classes is None else list(classes),
            "budget": budget,
            "budget_way": budget_way,
            "expected_rounds": expected_rounds,
            "stop_when": None if stop_when is None else stop_when.document(),
            "overlap": overlap,
            "seed": seed,
            "algorithm": algorithm,
            "options": dict(options or {}),
        }
        made = self._transport.call("POST", "/campaigns", body, done=ConflictError)
        campaign = RemoteCampaign(self._transport, name)
        # A try that was never answered may have made it, or somebody else.
        if made is None and not _is_same(campaign.describe(), body):
            raise ConflictError(f"there is a campaign {name!r} already; open that one, or choose another name.")
        return campaign

    def _create_pool(
        self, name: str, path: Path, columns: "Mapping[str, Role] | None", settings: Mapping[str, Any]
    ) -> "RemoteCampaign":
        """Send the file of a pool."""
        asked = {"name": name, "filename": path.name, **settings}
        if columns:
            asked["columns"] = json.dumps(dict(columns))
        made = self._transport.send(f"/campaigns?{urlencode(asked)}", path.read_bytes(), done=ConflictError)
        campaign = RemoteCampaign(self._transport, name)
        # A try that was never answered may have made it, or somebody else.
        if made is None and not _is_same_pool(campaign.describe(), settings):
            raise ConflictError(f"there is a campaign {name!r} already; open that one, or choose another name.")
        return campaign


def _is_same_pool(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a campaign is on a pool with this goal."""
    same = {name: found[name] for name in ("budget", "overlap")}
    shown = {**found["options"], **same, "seed": int(found["seed"])}
    return found["algorithm"] == POOL_ALGORITHM and all(
        shown[name] == value for name, value in wanted.items() if name != "use_labels"
    )


def _is_same(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a campaign was made with these settings; it may have more options than were given."""
    shown = {**found, "seed": int(found["seed"])}
    if isinstance(wanted["models"], int):
        shown["models"] = len(found["models"])
    names = [option.name for option in SETTINGS if option.name != "options"]
    return all(shown[name] == wanted[name] for name in names)


class RemoteCampaign:
    """A campaign on a server."""

    def __init__(self, transport: Transport, name: str) -> None:
        self.name = name
        self.annotator = f"client-{uuid.uuid4().hex[:12]}"
        """Who leases and answers where nobody else is named."""
        self._transport = transport
        self._path = f"/campaigns/{_segment(name)}"

    def describe(self) -> dict[str, Any]:
        """What it is made with, how far it has come, who leads."""
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
        return [AnswerRecord(**one) for one in self._transport.call("GET", f"{self._path}/answers")["answers"]]

    def ask(
        self,
        predictions: PredictionRow,
        *,
        item: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Decision:
        """Decide the next round; it is on the server's disk when this returns."""
        body = {"predictions": _row(predictions), "item": item, "key": _key(key)}
        return _decision(self._transport.call("POST", f"{self._path}/rounds", body))

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

            batch = frame_batch(columns, self.describe()["models"])
            rows = _named_rows(batch.predictions)
            items, keys = items or batch.items, keys or batch.keys
        body = {
            "predictions": [_row(row) for row in rows],
            "items": None if items is None else list(items),
            "keys": [_key(key) for key in (keys or [None] * len(rows))],
        }
        return [
            _decision(made)
            for made in self._transport.call("POST", f"{self._path}/rounds/batch", body)["decisions"]
        ]

    def tell(
        self, id: int | str, label: ClassName | None, *, replace: bool = False, annotator: str | None = None
    ) -> None:
        """Tell the label of a query, by its id or its key; None is a skip."""
        if label is None:
            self.skip(id, replace=replace, annotator=annotator)
            return
        body = {"id": id, "label": label, "replace": replace, "annotator": annotator}
        self._transport.call("POST", f"{self._path}/labels", body)

    def tell_many(
        self,
        labels: Mapping[Any, ClassName | None] | Iterable[tuple[int | str, ClassName | None]],
        *,
        replace: bool = False,
        annotator: str | None = None,
    ) -> None:
        """Tell many labels: all of them, or none if one cannot be."""
        pairs = [list(pair) for pair in (labels.items() if isinstance(labels, Mapping) else labels)]
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
        body = {"id": id, "lease": _seconds(lease), "annotator": annotator}
        self._transport.call("POST", f"{self._path}/retractions", body, done=ConflictError)

    def pending(
        self, most: int | None = None, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> list[Query]:
        """Queries that wait, oldest first: a thousand at most, or as many as are leased, one by default.

        With a lease, they are kept from others for so many seconds.
        """
        if lease is None:
            found = self._transport.call("GET", f"{self._path}/queries?most={MOST if most is None else most}")
        else:
            by = annotator or self.annotator
            body = {"most": 1 if most is None else most, "seconds": _seconds(lease), "annotator": by}
            found = self._transport.call("POST", f"{self._path}/leases", body)
            while found["deciding"]:  # many items of a file need no label
                found = self._transport.call("POST", f"{self._path}/leases", body)
        return [_query(one) for one in found["queries"]]

    def release(self, *ids: int | str) -> None:
        """Give leased queries back."""
        for called in ids:
            number = next(self.history(called))["id"] if isinstance(called, str) else called
            self._transport.call("DELETE", f"{self._path}/leases/{number}")

    def best(self) -> Pick:
        """The best model so far, how every model stands, and what that rests on."""
        found = self._transport.call("GET", f"{self._path}/standing")
        standing = [
            Standing(one["model"], one["estimate"], one["gap"], one["labels"], one["since"], one["covered"])
            for one in found["standing"]
        ]
        same = ("labels_used", "rounds", "covered", "labels_saved", "pending", "skipped", "references", "budget")
        return Pick(
            model=standing[0].model,
            standing=tuple(standing),
            tied=tuple(found["tied"]),
            weighted=found["weighted"],
            certificate=Certificate(**found["certificate"]),
            certified=found["certified"],
            reached=found["reached"],
            to_go=_to_go(found.get("to_go")),
            more=_outlook(found.get("more")),
            state=Status(*(found["state"][part] for part in ("name", "reason", "next", "takes_items"))),
            remark=found["remark"],
            conflicts=found["conflicts"],
            **{name: found[name] for name in same},
        )

    def labels_to_go(self) -> LabelsToGo | None:
        """About how many more labels a pool needs; None on a stream, and if it is too early to say."""
        return _to_go(self.describe()["to_go"])

    def outlook(self, labels: int) -> PoolOutlook | None:
        """What so many more labels of a pool would buy; None on a stream, and if it is too early to say."""
        asked = urlencode({"labels": labels})
        return _outlook(self._transport.call("GET", f"{self._path}/outlook?{asked}")["outlook"])

    def certificate(self, confidence: float = 0.95, kind: CertificateKind = "stream") -> Certificate:
        """How sure the pick is, in a statement that holds whenever one looks."""
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
        """Let a model take no part any more."""
        self._transport.call("DELETE", f"{self._path}/models/{_segment(model)}", done=NotFoundError)

    def revise(self, *, name: str | None = None, annotator: str | None = None, **changes: Any) -> None:
        """Change `budget`, `stop_when`, `paused`, `archived`, `finished`, `guidelines` or the name, all at once."""
        if isinstance(changes.get("stop_when"), Certified):
            changes["stop_when"] = changes["stop_when"].document()
        if name is None:
            self._transport.call("PATCH", self._path, {**changes, "annotator": annotator})
            return
        body = {**changes, "name": name, "annotator": annotator}
        self._transport.call("PATCH", self._path, body, done=NotFoundError)
        self.name, self._path = name, f"/campaigns/{_segment(name)}"

    def finish(self, *, annotator: str | None = None) -> None:
        """Take the result: nobody is asked any more, and open questions are withdrawn."""
        self.revise(annotator=annotator, finished=True)

    def rename(self, name: str, *, annotator: str | None = None) -> None:
        """Call it something else."""
        self.revise(name=name, annotator=annotator)

    def delete(self) -> None:
        """Delete it with everything that belongs to it, for good; export it before."""
        self._transport.call("DELETE", f"{self._path}?{urlencode({'confirm': self.name})}", done=NotFoundError)

    def labels(self, wanted: LabelFilter = LabelFilter()) -> list[GivenAnswer]:  # noqa: B008 (it is frozen)
        """Every answer that holds now, the newest first: who gave it, when, and what each model said."""
        asked = {name: value for name, value in asdict(wanted).items() if value is not None}
        found: list[GivenAnswer] = []
        while True:
            page = self._transport.call(
                "GET", f"{self._path}/labels?{urlencode({**asked, 'first': len(found), 'most': MOST})}"
            )
            found += [_given_answer(one) for one in page["labels"]]
            if not page["labels"] or len(found) >= page["total"]:
                return found

    def conflicts(self) -> list[Conflict]:
        """The items on which people disagree, with what each of them said; `settle` decides."""
        found: list[Conflict] = []
        while True:
            page = self._transport.call("GET", f"{self._path}/conflicts?first={len(found)}&most={MOST}")
            found += [Conflict(**one | {"opinions": _opinions(one)}) for one in page["conflicts"]]
            if not page["conflicts"] or len(found) >= page["total"]:
                return found

    def settle(self, id: int | str, label: ClassName | None, *, annotator: str | None = None) -> None:
        """Decide what an item is on which people disagree; None if nobody can tell."""
        body = {"id": id, "label": label, "annotator": annotator}
        self._transport.call("POST", f"{self._path}/settlements", body)

    def agreement(self) -> Agreement:
        """How far people agree on the items that several of them labelled."""
        found = self._transport.call("GET", f"{self._path}/agreement")
        pairs = [PairAgreement(**one | {"annotators": tuple(one["annotators"])}) for one in found["pairs"]]
        classes = [ClassAgreement(**one) for one in found["classes"]]
        return Agreement(**found | {"pairs": tuple(pairs), "classes": tuple(classes)})

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
        """One page for whoever has to decide, as HTML."""
        return self._transport.fetch(f"{self._path}/report").decode()


def _segment(name: ModelName) -> str:
    """A name as one part of a path; dots are spelt out, as ".." would lead elsewhere."""
    return quote(str(name), safe="").replace(".", "%2E")


def _seconds(lease: float | timedelta | None) -> float | None:
    return lease.total_seconds() if isinstance(lease, timedelta) else lease


def _row(predictions: Any) -> Any:
    """Predictions as JSON can hold them."""
    if isinstance(predictions, Mapping):
        return {str(model): said for model, said in predictions.items()}
    return predictions.tolist() if hasattr(predictions, "tolist") else list(predictions)


def _named_rows(collection: "ModelCollection") -> list[list[ClassName | None]]:
    """The predictions of a collection, by the names of their classes."""
    names = [*collection.classes, None]
    return [[names[code] for code in row] for row in collection.predictions.tolist()]


def _key(given: str | None) -> str:
    """The key of an item; made up where there is none, so that it can be sent twice."""
    return given if given is not None else f"client-{time.time_ns():x}-{uuid.uuid4().hex[:12]}"


def _decision(made: Mapping[str, Any]) -> Decision:
    return Decision(
        round=made["id"],
        query=made["query"],
        probability=made["probability"],
        prediction=made["prediction"],
        recommended=made["recommended"],
    )


def _to_go(found: Mapping[str, Any] | None) -> LabelsToGo | None:
    return None if found is None else LabelsToGo(found["expected"], found["low"], found["high"])


def _outlook(found: Mapping[str, Any] | None) -> PoolOutlook | None:
    return None if found is None else PoolOutlook(found["labels"], found["chance"], found["confidence"])


def _given_answer(one: Mapping[str, Any]) -> GivenAnswer:
    notes = tuple(ItemNote(**note) for note in one["notes"])
    said = {"predictions": dict(one["predictions"]), "notes": notes, "opinions": _opinions(one)}
    return GivenAnswer(**{**one, **said})


def _opinions(one: Mapping[str, Any]) -> tuple[GivenOpinion, ...]:
    return tuple(GivenOpinion(**opinion) for opinion in one["opinions"])


def _query(one: Mapping[str, Any]) -> Query:
    classes = tuple(one["classes"] or ())
    return Query(one["id"], one["item"], one["key"], classes, one["leased_until"], one["leased_by"])
