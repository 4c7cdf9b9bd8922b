"""`pick` on a pool: labels are looked up where they are known; else a person is asked, and a journal is kept."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

import modelpicker
from modelpicker.cli.shared.pick_campaign import campaign_name, named_path
from modelpicker.cli.shared.pick_reading import (
    is_answers,
    read_labelled,
    read_scanned,
    some_names,
    with_old_answers,
)
from modelpicker.cli.shared.pick_request import PickRequest
from modelpicker.cli.shared.pool_output import PoolReport
from modelpicker.cli.shared.pool_session import PoolSession
from modelpicker.cli.shared.prompts import MOST_KEYS
from modelpicker.cli.shared.terminal import count, print_notes, say, visible, waiting
from modelpicker.errors import ConflictError, InputError, brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modelpicker.algorithms.pools.picker import PoolPicker
    from modelpicker.campaigns.pool_costs import PoolCosts
    from modelpicker.campaigns.pool_journal import PoolJournal
    from modelpicker.collections import ModelCollection
    from modelpicker.encoding import ClassName

    Answers = Sequence[ClassName | None] | None

ENDING = ".pool.jsonl"
# Items of a scan that are looked at, to see whether answers are classes.
SOME_ITEMS = 2**14
DATABASES = (".db", ".sqlite", ".sqlite3")


def find_journal(source: str, out: Path | None, labels: Path | None) -> Path:
    """The journal of a pool: beside the file of items, and never the file that the labels come from."""
    if out is not None and labels is not None and out.absolute() == labels.absolute():
        raise InputError(f"{out} is where the labels come from; pass another --out.")
    usual = named_path(source).with_name(f"{named_path(source).stem}{ENDING}")
    taken = labels is not None and usual.absolute() == labels.absolute()
    return out or (_free_place(usual) if taken else usual)


def _free_place(place: Path) -> Path:
    """A name like this one that is not taken."""
    stem = place.name.removesuffix(".jsonl").removesuffix(".pool")
    others = (place.with_name(f"{stem}-{number}{ENDING}") for number in itertools.count(2))
    return next(other for other in others if not other.exists())


def pick_pool(request: PickRequest, ask: bool) -> PoolReport:
    """Look labels up where they are known, continue with a journal that was started, or begin one."""
    from modelpicker.campaigns.offline import check_several, known_labels, read_whole
    from modelpicker.campaigns.offline_pool import graded_items
    from modelpicker.campaigns.pool_journal import read_header
    from modelpicker.campaigns.slicing import slice_values

    place = find_journal(request.source, request.out, request.labels)
    ask = ask or request.ask_for != "class"
    asks = ask or request.labels is None or is_answers(request.labels)
    begun = read_header(place) if asks else None
    if begun is not None:
        _check_missing(request, begun, place)
        reading = type(request.reading)(**{**begun.get("reading", {}), **request.reading.document()})
        judge = _judge_of(request, begun, place)
        request = replace(request, reading=reading, judge=judge, slice=request.slice or begun.get("slice"))
    if request.judge is not None:
        fields = dict.fromkeys((*request.reading.fields, request.judge))
        request = replace(request, reading=replace(request.reading, fields=tuple(fields)))
    named = request.reading.document()
    request = _with_slice_field(request)
    opened, request = read_labelled(request) if request.how is None else read_scanned(request, ask)
    print_notes(opened.notes)
    say(f"models: {some_names(opened.models)}")
    check_several(opened, request.source)
    if request.slice is not None:
        slice_values(read_whole(opened), request.slice, named)  # an error if it is not a column to slice by
    known, total = known_labels(opened) or graded_items(opened), len(opened)
    if begun is None and known and not ask and not (known < total and is_answers(request.labels)):
        if known < total:
            say(f"{known:,} of {count(total, 'item')} have labels. A missing label that is asked for counts as the")
            again = f" (To be asked for the others: --ask --labels {request.labels or request.source})"
            say(f"worst.{again if known_labels(opened) else ''}")
        return _look_up(*_apart(read_whole(opened), request), request)
    if begun is None and request.labels is None and request.how is None:
        request, opened = with_old_answers(request, opened)
    return _ask_person(*_apart(read_whole(opened), request), request, place)


def refuse_for_stream(judge: str | None, warm: Path | None) -> None:
    """What only a pool can use is wrong usage with a stream."""
    from modelpicker.campaigns.offline import refuse_warm_of_stream
    from modelpicker.campaigns.setting_options import refuse_judge_of_stream

    for option, check, given in (
        ("--judge", refuse_judge_of_stream, judge),
        ("--warm", refuse_warm_of_stream, warm),
    ):
        try:
            check(given)
        except InputError as error:
            raise typer.BadParameter(str(error), param_hint=option) from None


def _judge_of(request: PickRequest, begun: dict[str, Any], place: Path) -> str | None:
    """The judge that a journal was started with; an error if another one was typed."""
    then: str | None = begun.get("judge")
    if "judge" in request.typed and request.judge != then:
        how = "without a judge" if then is None else f"with --judge {then}"
        again = "" if then is None else " Leave --judge out to continue."
        raise ConflictError(
            f"{place} belongs to another pick: it was started {how}, here it is --judge {request.judge}.{again} "
            f"{_again(place)}"
        )
    return then


def _apart(whole: "ModelCollection", request: PickRequest) -> "tuple[ModelCollection, Answers]":
    """The items without the column of the judge, and what the judge says about each."""
    from modelpicker.campaigns.input.judges import with_judge_apart

    if request.judge is None:
        return whole, None
    bare, found = with_judge_apart(whole, request.judge, request.reading.same)
    said = cast("list[ClassName | None]", found)
    known = set(bare.classes)
    heard = sum(answer in known for answer in said)
    say(visible(f"judge: {request.judge} says something about {heard:,} of {count(len(whole), 'item')}"))
    return bare, said


def _check_missing(request: PickRequest, begun: dict[str, Any], place: Path) -> None:
    """What an empty cell stands for decides which questions are asked, so it must be what it was."""
    then = begun.get("reading", {}).get("missing", "abstained")
    if "missing" in request.typed and request.reading.missing != then:
        raise ConflictError(
            f"{place} belongs to another pick: it was started with --missing {then}, here it is "
            f"{request.reading.missing}. Leave --missing out to continue. {_again(place)}"
        )


def _with_slice_field(request: PickRequest) -> PickRequest:
    """The same request; the column of the slices is read as a field of the items."""
    from modelpicker.campaigns.slicing import fields_with_slice

    reading = fields_with_slice(request.reading.document(), request.slice)
    return replace(request, reading=type(request.reading)(**reading))


def _settings(request: PickRequest) -> dict[str, Any]:
    """What decides which questions are asked."""
    from modelpicker.certificates.stop_rule import GAP

    tolerance = GAP.default if request.tolerance is None else request.tolerance
    return {"seed": request.seed, "confidence": request.confidence, "tolerance": tolerance}


def _make_pool(
    whole: "ModelCollection",
    settings: dict[str, Any],
    request: PickRequest,
    judge: "Answers",
    costs: "PoolCosts",
    ask_for: str = "class",
) -> "PoolPicker":
    from modelpicker.campaigns.slicing import make_pool

    goal = {**settings, "judge": judge, **costs.goal(ask_for)}
    return make_pool(whole, request.slice, request.reading.document(), **goal)


def read_costs(
    whole: "ModelCollection", request: PickRequest, given: "dict[int, ClassName]", ask_for: str = "class"
) -> "PoolCosts":
    """What mistakes and models cost, as it was typed; "balanced" is by the labels that exist already."""
    from modelpicker.campaigns.offline_pool import find_loss, find_price
    from modelpicker.campaigns.pool_costs import PoolCosts
    from modelpicker.collections.same_answers import SameAnswers

    typed = {"loss": None, "price": None, "label_noise": 0.0, **request.costs}
    loss = typed["loss"]
    if isinstance(loss, str) and loss == "balanced":
        loss = find_loss(loss, whole, given)
    price = find_price(typed["price"], whole)
    costs = PoolCosts.check(loss, price, typed["label_noise"], models=whole.models, ask_for=ask_for)
    costs.check_spelling(whole.classes, SameAnswers.of(request.reading.same))
    costs.check_named(whole.classes)
    return costs


def _look_up(whole: "ModelCollection", judge: "Answers", request: PickRequest) -> PoolReport:
    """Play a pool whose labels are known; every decision is written down if somebody asks for it."""
    from modelpicker.campaigns.offline import given_labels
    from modelpicker.campaigns.offline_pool import give_labels, known_grades, look_up_pool
    from modelpicker.cli.shared.result_file import result_file

    grades = known_grades(whole)
    ask_for = "class" if grades is None else "grades"
    settings, given = _settings(request), given_labels(whole, request.warm, request.reading.same)
    costs = read_costs(whole, request, given, ask_for)
    with waiting("Looking at the models"):
        pool = _make_pool(whole, settings, request, judge, costs, ask_for)
        give_labels(pool, given)
    with waiting("Asking for labels"):
        pick, trace = look_up_pool(pool, request.goal.budget, len(given), grades)
    out = None if request.out is None else str(request.out)
    report = PoolReport(pick, **settings, contested=pool.contested, stopped=trace.stopped, out=out, costs=costs)
    if request.out is not None:
        with result_file(request.out) as written:
            written.write_pool(whole, trace, report.document(), given, **request.reading_again())
    return report


def _ask_person(whole: "ModelCollection", judge: "Answers", request: PickRequest, place: Path) -> PoolReport:
    """Ask for each label at the terminal, from where the journal is until the pick is certified."""
    from modelpicker.campaigns.background_compiler import compiling_beside
    from modelpicker.campaigns.kernel_needs import KernelNeed
    from modelpicker.campaigns.offline import given_labels
    from modelpicker.campaigns.pool_journal import PoolJournal
    from modelpicker.collections.same_answers import SameAnswers

    given = given_labels(whole, request.warm, request.reading.same)
    if place.suffix.lower() in DATABASES:
        raise InputError(
            f"--out {place}: answers about a pool are kept in a file of JSON lines; pass a name that ends with "
            ".jsonl. Or add --as stream: then they are a campaign in an SQLite file."
        )
    with PoolJournal.opened(place) as journal, compiling_beside() as compiler:
        need = KernelNeed.of_pools()
        if journal.answers or given or request.labels is not None:
            compiler.want(need)  # there is much to learn before the first question
        settings, budget, ask_for, costs = _begin(journal, whole, judge, request, given)
        if ask_for == "class" and not journal.answers and _mostly_unique(whole):
            say("Over half of all answers are given only once: --ask-for grades asks you to grade them instead.")
        with waiting("Looking at the models"):
            session = PoolSession(
                lambda: _make_pool(whole, settings, request, judge, costs, ask_for),
                whole,
                journal,
                name=campaign_name(request.source),
                budget=budget,
                by=request.by,
                closed=request.reading.classes is not None,
                ask_for=ask_for,
                rule=SameAnswers.of(request.reading.same),
            )
        if journal.answers:
            say(f"Continuing with {count(session.pool.labels_used, 'label')} from before.")
        if given:
            session.use_given(given)
            say(f"{count(session.given, 'label')} given {'is' if session.given == 1 else 'are'} used.")
        if request.labels is not None:
            session.use_known()
            say(f"{count(session.known, 'label')} known before {'is' if session.known == 1 else 'are'} used.")
        try:
            session.converse(before_asking=lambda: compiler.want(need))
        except KeyboardInterrupt:
            say("", visible(f"Stopped. Your answers are in {place}; run the same command to continue."))
            raise
        return PoolReport(
            session.pick(),
            **settings,
            contested=session.pool.contested,
            stopped=session.stopped,
            out=str(place),
            known=session.known,
            asked=True,
            costs=costs,
        )


def _mostly_unique(whole: "ModelCollection") -> bool:
    """Whether over half of all answers are given by one model to one item only: then they are no classes."""
    import numpy as np

    kept = getattr(whole, "kept", None)  # of a scan, some of the items on which models differ
    said = whole.predictions if kept is None else kept.codes[:SOME_ITEMS]
    counts = np.bincount(said[said >= 0].ravel(), minlength=1)
    return bool(2 * (counts == 1).sum() > max(MOST_KEYS, counts.sum()))


def _begin(
    journal: "PoolJournal",
    whole: "ModelCollection",
    judge: "Answers",
    request: PickRequest,
    given: "dict[int, ClassName]",
) -> "tuple[dict[str, Any], int | None, str, PoolCosts]":
    """Begin a journal, or check that it is of this pick; its settings, the budget, what is asked for, the costs."""
    from modelpicker.campaigns.file_campaign import fingerprint_of
    from modelpicker.campaigns.input.judges import judge_mark

    mark = None if judge is None else judge_mark(judge)
    settings, budget, fingerprint = _settings(request), request.goal.budget, fingerprint_of(whole)
    if journal.torn:
        say(visible(f"{journal.path}: the last line was incomplete, as after a crash. It was dropped."))
    if journal.header is None:
        costs = read_costs(whole, request, given, request.ask_for)
        journal.begin(
            {
                "version": modelpicker.__version__,
                "labels": "asked",
                "file": request.source,
                "fingerprint": fingerprint,
                "items": len(whole),
                "models": list(whole.models),
                "reading": request.reading.document(),
                **settings,
                **({} if request.slice is None else {"slice": request.slice}),
                "budget": budget,
                "ask_for": request.ask_for,
                **costs.document(),
                **({} if judge is None else {"judge": request.judge, "judge_mark": mark}),
            }
        )
        return settings, budget, request.ask_for, costs
    header = journal.header
    if header.get("fingerprint") != fingerprint:
        raise ConflictError(_other_file(journal.path, header, whole))
    if header.get("slice") != request.slice:
        begun = f"with --slice {header['slice']}" if header.get("slice") else "without --slice"
        raise ConflictError(
            f"{journal.path} belongs to another pick: it was started {begun}, here it is --slice "
            f"{request.slice}. "
            f"{_again(journal.path)}"
        )
    if header.get("judge_mark") != mark:
        raise ConflictError(
            f"{journal.path} belongs to another pick: the judge, column {brief(request.judge)} of "
            f"{header.get('file')}, "
            f"says something else than when it was started. Restore the original file. {_again(journal.path)}"
        )
    names = {"seed": "seed", "confidence": "confidence", "tolerance": "stop_gap"}
    header = {"ask_for": "class", **header}  # older ones have none
    for name, typed in {**names, "ask_for": "ask_for"}.items():
        here = {**settings, "ask_for": request.ask_for}[name]
        if typed in request.typed and header.get(name) != here:
            option = f"--{name.replace('_', '-')}"
            raise ConflictError(
                f"{journal.path} belongs to another pick: it was started with {option} {header.get(name)}, here "
                "it is "
                f"{here}. Leave {option} out to continue. {_again(journal.path)}"
            )
    kept = {name: header.get(name, settings[name]) for name in names}
    costs = _costs_of(journal.path, whole, header, request, given)
    return kept, budget if "budget" in request.typed else header.get("budget"), str(header["ask_for"]), costs


def _costs_of(
    path: Path,
    whole: "ModelCollection",
    header: dict[str, Any],
    request: PickRequest,
    given: "dict[int, ClassName]",
) -> "PoolCosts":
    """The costs that a journal was started with; an error if others were typed."""
    from modelpicker.campaigns.pool_costs import PoolCosts
    from modelpicker.campaigns.setting_options import COSTS

    begun = PoolCosts.load(header)
    then = begun.facts()
    if typed := [name for name in COSTS if name in request.typed]:
        here = read_costs(whole, request, given, str(header["ask_for"]))
        for name in typed:
            if here.document().get(name) != begun.document().get(name):
                option, now = f"--{name.replace('_', '-')}", here.facts().get(name, "the default")
                raise ConflictError(
                    f"{path} belongs to another pick: its {option} was: {then.get(name, 'the default')}; here "
                    "it is: "
                    f"{now}. Leave {option} out to continue. {_again(path)}"
                )
    return begun


def _other_file(path: Path, header: dict[str, Any], whole: "ModelCollection") -> str:
    """That a journal does not belong to a file, and what to do."""
    then, now = header.get("models"), list(whole.models)
    found = (
        f"its models are {brief(then)}, here they are {brief(now)}"
        if then != now
        else f"{header.get('file')} has other items or other predictions than when it was started"
    )
    return (
        f"{path} belongs to another pick: {found}. Pass another --out, or remove {path} if its answers are not "
        "needed."
    )


def _again(path: Path) -> str:
    return f"To start again with the same answers, add --labels {path} --out {_free_place(path)}."
