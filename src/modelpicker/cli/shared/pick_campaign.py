"""A person asked for labels by `pick`: a campaign in an SQLite file, started or continued."""

import itertools
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelpicker.campaigns.setting_options import COSTS
from modelpicker.campaigns.storage.sqlite_files import is_sqlite
from modelpicker.cli.shared.label_session import ANNOTATOR, LabelSession
from modelpicker.cli.shared.pick_output import PickReport
from modelpicker.cli.shared.pick_request import PickRequest
from modelpicker.cli.shared.terminal import count, say, visible, waiting
from modelpicker.errors import ConflictError, InputError, NotFoundError, brief

if TYPE_CHECKING:
    from modelpicker.campaigns import Campaign
    from modelpicker.campaigns.file_campaign import Feeder
    from modelpicker.campaigns.offline import CollectionSource
    from modelpicker.collections import ModelCollection

LEASE = 600.0  # seconds


def find_place(source: str, out: Path | None, labels: Path | None, algorithm: str) -> Path:
    """The SQLite file of a pick: beside the file of items, and never the file that the labels come from."""
    if out is not None and labels is not None and out.absolute() == labels.absolute():
        raise InputError(f"{out} is where the labels come from; pass another --out.")
    if out is not None:
        return out
    usual = _usual_place(source)
    taken = labels is not None and usual.absolute() == labels.absolute()
    return usual.with_name(f"{named_path(source).stem}-{algorithm}.pick.db") if taken else usual


def named_path(source: str) -> Path:
    """The path of a file or a folder; with its name, where it is `.` or ends in `..`; of a pattern, its folder."""
    from modelpicker.collections.table_files import is_pattern

    path = Path(source)
    if is_pattern(source):
        path = Path(*itertools.takewhile(lambda part: not is_pattern(part), path.parts))
    return path if path.name not in ("", "..") else path.resolve()


def _usual_place(source: str) -> Path:
    path = named_path(source)
    return path.with_name(f"{path.stem}.pick.db")


def _free_place(place: Path) -> Path:
    """A name like this one that is not taken."""
    stem = place.name.removesuffix(".db").removesuffix(".pick")
    others = (place.with_name(f"{stem}-{number}.pick.db") for number in itertools.count(2))
    return next(other for other in others if not other.exists())


def campaign_name(source: str) -> str:
    """What the campaign of a file is called: as the file, without what a name cannot hold."""
    return re.sub(r"[^\w .-]|^[\W_]+", "-", named_path(source).stem).strip("-_. ")[:100].strip() or "pick"


def find_begun(place: Path, source: str) -> "Campaign | None":
    """The campaign that was started there, if there is one."""
    if not is_sqlite(place):
        return None
    from modelpicker.campaigns import open_campaign

    try:
        found = open_campaign(f"sqlite:///{place}", campaign_name(source))
    except NotFoundError:
        return None
    if found.settings.source is None:
        raise ConflictError(f"{place} has a campaign {found.name!r} that is of no file; pass another --out.")
    return found


def old_answers(source: str) -> Path | None:
    """What a person answered to an older version of modelpicker, in the current folder or beside the file."""
    from modelpicker.collections.labels import is_result

    name = f"{named_path(source).stem}.pick.jsonl"
    for path in (Path(name), named_path(source).with_name(name)):
        if is_result(path):
            with path.open("rb") as file:
                if b'"labels": "asked"' in file.readline(2**24):
                    return path
    return None


def ask_person(source: "CollectionSource", request: PickRequest, begun: "Campaign | None") -> PickReport:
    """Ask for each label at the terminal, from where the campaign is until nothing is left to ask."""
    from modelpicker.campaigns.file_campaign import Feeder
    from modelpicker.campaigns.offline import read_whole

    collection = read_whole(source)
    place = find_place(request.source, request.out, request.labels, request.algorithm)
    if begun is not None:
        check_options(begun, request, place)
    campaign = begun or _begin(collection, request, place)
    feeder = Feeder(campaign, collection, use_known=request.labels is not None)
    labels = campaign.counts().labels
    if labels:
        say(f"Continuing with {count(labels, 'label')} from before.")
    session = LabelSession(campaign, LEASE, request.by or ANNOTATOR, feeder=feeder)
    try:
        session.converse()
    except KeyboardInterrupt:
        say("", visible(f"Stopped. Your answers are in {place}; run the same command to continue."))
        raise
    finally:
        session.give_back()
    return _report(campaign, feeder, request, session.stopped, place)


def _begin(collection: "ModelCollection", request: PickRequest, place: Path) -> "Campaign":
    from modelpicker.campaigns.file_campaign import begin_file_campaign, fingerprint_of
    from modelpicker.campaigns.sources import FileSource

    if place.suffix.lower() in (".jsonl", ".ndjson"):
        raise InputError(f"--out {place}: your answers are kept in an SQLite file; pass a name that ends with .db.")
    if place.exists() and place.stat().st_size and not is_sqlite(place):
        raise ConflictError(f"{place} exists and is not an SQLite file; pass another --out.")
    source = FileSource(
        file=request.source,
        fingerprint=fingerprint_of(collection),
        reading=request.reading.document(),
        labels=None if request.labels is None else str(request.labels),
        shuffle=request.shuffle,
        out=None if place == _usual_place(request.source) else str(place),
    )
    with waiting("Looking at the models"), suppress(ConflictError):  # somebody else may begin it at the same moment
        return begin_file_campaign(
            f"sqlite:///{place}",
            campaign_name(request.source),
            collection,
            source,
            request.goal,
            algorithm=request.algorithm,
            options=request.options,
            seed=request.seed,
            missing=request.missing,
        )
    found = find_begun(place, request.source)
    if found is None:
        raise ConflictError(f"{place} is being written to by somebody else; try again.")
    check_options(found, request, place)
    return found


def check_options(begun: "Campaign", request: PickRequest, place: Path) -> None:
    """What was typed must be what the campaign was started with: answers would be put to other questions."""
    for name, (then, now) in _compared(begun, request).items():
        if then != now:
            raise ConflictError(
                f"{place} belongs to another pick: it was started with {name} {_shown(then)}, here it is "
                f"{_shown(now)}. "
                f"Leave {name} out to continue. To start again with the same answers, add --labels {place} "
                f"--out {_free_place(place)}."
            )


def _compared(begun: "Campaign", request: PickRequest) -> dict[str, tuple[Any, Any]]:
    """Each option that was typed and decides something: how it was started with, and how it is now."""
    settings, typed = begun.settings, request.typed
    options = settings.make(settings.models).options
    own = settings.kind.stops  # then the goal is among its options
    rule = begun.terms.stop_when
    then = {
        "algorithm": settings.kind.name,
        "seed": settings.seed,
        "shuffle": settings.source is not None and settings.source.shuffle,
        "budget": begun.terms.budget,
        "missing": settings.missing,
        "stop_gap": options.get("tolerance") if own else None if rule is None else rule.gap,
        "models": list(settings.models),
        "classes": None if settings.classes is None else list(settings.classes),
        **{name: settings.costs.document().get(name) for name in COSTS},
    }
    if own:
        then["confidence"] = options.get("confidence")
    elif rule is not None:
        then |= {"confidence": rule.confidence, "kind": rule.kind}
    found = {f"--{name.replace('_', '-')}": (then[name], typed[name]) for name in then if name in typed}
    for name, value in typed.get("option", {}).items():
        found[f"--option {name}"] = (options.get(name), value)
    return found


def _shown(value: Any) -> str:
    return "none" if value is None else brief(value) if isinstance(value, list) else str(value)


def _report(campaign: "Campaign", feeder: "Feeder", request: PickRequest, stopped: str, place: Path) -> PickReport:
    from modelpicker.campaigns.file_campaign import FILE, answers_by

    settings, pick = campaign.settings, campaign.best()
    picker = settings.make(settings.models)
    goal = campaign.terms.stop_when or picker.aim
    if goal is None:
        usual = request.goal.usual
        pick = replace(pick, certificate=campaign.certificate(usual.confidence, usual.kind))
    return PickReport(
        pick=pick,
        algorithm=settings.kind.name,
        options=picker.options,
        seed=settings.seed,
        items=len(feeder.collection),
        to_play=len(feeder.collection),
        stopped=stopped,
        goal=goal,
        out=str(place),
        known=len(answers_by(campaign, FILE)),
        campaign={"campaign": campaign.name, "storage": campaign.storage.url},
        costs=settings.costs,
    )
