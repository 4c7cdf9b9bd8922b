"""How calls become JSON, and how the server's documents become the same results that a campaign here returns."""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

import numpy.typing as npt

from modelpicker.algorithms import Decision, LabelsToGo, PoolOutlook, SliceRow, SliceTable
from modelpicker.campaigns.results.agreement import Agreement, ClassAgreement, PairAgreement
from modelpicker.campaigns.results.judge_quality import JudgedClass, JudgeQuality
from modelpicker.campaigns.results.pick import GivenAnswer, GivenOpinion, ItemNote, Pick, Query, Standing
from modelpicker.campaigns.results.status import Status
from modelpicker.certificates.certificate import Certificate
from modelpicker.encoding import ClassName, ModelName
from modelpicker.kernels.primitives import NOT_RUN
from modelpicker.label import Label, read_label

if TYPE_CHECKING:  # a client that is sent no data frame needs neither Arrow nor SQLAlchemy
    from modelpicker.collections import ModelCollection

PredictionRow: TypeAlias = Mapping[Any, ClassName | None] | Sequence[ClassName | None] | npt.NDArray[Any]
"""What models say about an item: by name, or in the order of the models."""


def path_segment(name: ModelName) -> str:
    """A name as one part of a path; dots are spelt out, as ".." would lead elsewhere."""
    return quote(str(name), safe="").replace(".", "%2E")


def lease_seconds(lease: float | timedelta | None) -> float | None:
    """For how many seconds a query is leased."""
    return lease.total_seconds() if isinstance(lease, timedelta) else lease


def prediction_row(predictions: Any) -> Any:
    """Predictions as JSON can hold them."""
    if isinstance(predictions, Mapping):
        return {str(model): said for model, said in predictions.items()}
    return predictions.tolist() if hasattr(predictions, "tolist") else list(predictions)


def named_rows(collection: "ModelCollection", models: Sequence[ModelName]) -> list[list[ClassName | None]]:
    """The predictions of a collection, by the names of their classes, in the order of the models."""
    names = [*collection.classes, NOT_RUN, None]  # -1 is the last
    there = {name: place for place, name in enumerate(collection.models)}
    places = [there.get(str(model), -1) for model in models]
    rows = ([*row, NOT_RUN] for row in collection.predictions.tolist())  # that of a model that it lacks is the last
    return [[names[row[place]] for place in places] for row in rows]


def label_document(label: Any) -> Any:
    """A label as JSON can hold it."""
    return label.to_json() if isinstance(label, Label) else dict(label) if isinstance(label, Mapping) else label


def item_key(given: str | None) -> str:
    """The key of an item; made up where there is none, so that it can be sent twice."""
    return given if given is not None else f"client-{time.time_ns():x}-{uuid.uuid4().hex[:12]}"


def read_decision(made: Mapping[str, Any]) -> Decision:
    """A decision that the server made."""
    return Decision(
        round=made["id"],
        query=made["query"],
        probability=made["probability"],
        prediction=made["prediction"],
        recommended=made["recommended"],
        racing=tuple(made.get("racing", ())),
    )


def read_query(one: Mapping[str, Any], ask_for: str) -> Query:
    """A query that waits; only grades and preferences are about the answers that are shown."""
    classes, shown = tuple(one["classes"] or ()), tuple(one["candidates"] if ask_for != "class" else ())
    return Query(one["id"], one["item"], one["key"], classes, one["leased_until"], one["leased_by"], shown)


def read_pick(found: Mapping[str, Any]) -> Pick:
    """The pick, and how every model stands."""
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
        to_go=read_to_go(found.get("to_go")),
        more=read_outlook(found.get("more")),
        state=Status(*(found["state"][part] for part in ("name", "reason", "next", "takes_items"))),
        remark=found["remark"],
        racing=tuple(found.get("racing", ())),
        calls=found.get("calls"),
        conflicts=found["conflicts"],
        saved_per_item=found.get("saved_per_item"),
        judge=read_judge_quality(found.get("judge")),
        slices=read_slice_table(found.get("slices"), standing[0].model),
        **{name: found[name] for name in same},
    )


def read_slice_table(found: Mapping[str, Any] | None, model: ModelName) -> SliceTable | None:
    """The best model of each slice; None if there are none."""
    if found is None:
        return None
    names = [part.name for part in fields(SliceRow)]
    rows = tuple(SliceRow(**{name: one[name] for name in names}) for one in found["slices"])
    own = {name: found[name] for name in ("column", "tolerance", "allowed", "confidence", "label_noise")}
    return SliceTable(model=model, rows=rows, **own)


def read_judge_quality(found: Mapping[str, Any] | None) -> JudgeQuality | None:
    """How good the judge was; None if there is none."""
    if found is None:
        return None
    own = {part.name: found[part.name] for part in fields(JudgeQuality)}
    return JudgeQuality(**own | {"classes": tuple(JudgedClass(**one) for one in found["classes"])})


def read_to_go(found: Mapping[str, Any] | None) -> LabelsToGo | None:
    """How many more labels are needed, about; None if the server cannot say."""
    return None if found is None else LabelsToGo(found["expected"], found["low"], found["high"])


def read_outlook(found: Mapping[str, Any] | None) -> PoolOutlook | None:
    """What more labels would buy; None if the server cannot say."""
    return None if found is None else PoolOutlook(found["labels"], found["chance"], found["confidence"])


def read_answer(one: Mapping[str, Any]) -> GivenAnswer:
    """An answer that holds, with what goes with it."""
    notes = tuple(ItemNote(**note) for note in one["notes"])
    said = {"predictions": dict(one["predictions"]), "notes": notes, "opinions": read_opinions(one)}
    return GivenAnswer(**{**one, **said, "label": read_label(one["label"])})


def read_opinions(one: Mapping[str, Any]) -> tuple[GivenOpinion, ...]:
    """What people say about an item."""
    return tuple(GivenOpinion(**opinion | {"label": read_label(opinion["label"])}) for opinion in one["opinions"])


def read_agreement(found: Mapping[str, Any]) -> Agreement:
    """How far people agree."""
    pairs = [PairAgreement(**one | {"annotators": tuple(one["annotators"])}) for one in found["pairs"]]
    classes = [ClassAgreement(**one | {"label": read_label(one["label"])}) for one in found["classes"]]
    return Agreement(**{**found, "pairs": tuple(pairs), "classes": tuple(classes)})
