"""`modelpicker pick`: the best model of one collection, with labels from a file or from a person."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modelpicker.campaigns.setting_options import AskFor
from modelpicker.cli.shared import algorithm_options, pick_campaign
from modelpicker.cli.shared.campaign_options import AnnotatorOption
from modelpicker.cli.shared.engine_options import ScanEngine, Scheduler, Workers
from modelpicker.cli.shared.pick_output import PickReport
from modelpicker.cli.shared.pick_pool import find_journal, pick_pool, read_costs, refuse_for_stream
from modelpicker.cli.shared.pick_reading import is_answers, read_labelled, some_names, with_old_answers
from modelpicker.cli.shared.pick_request import PickRequest
from modelpicker.cli.shared.pool_costs import typed_costs
from modelpicker.cli.shared.read_collection import with_reading
from modelpicker.cli.shared.terminal import (
    Json,
    JudgeOption,
    LabelNoiseOption,
    LabelsOption,
    LossOption,
    PriceOption,
    Seed,
    SliceOption,
    SourceArgument,
    WarmOption,
    count,
    print_json,
    print_notes,
    progress,
    say,
    visible,
    waiting,
)
from modelpicker.errors import InputError

if TYPE_CHECKING:
    from modelpicker.algorithms import Trace
    from modelpicker.campaigns import Campaign
    from modelpicker.campaigns.offline import CollectionSource, Goal, Run
    from modelpicker.campaigns.pick_setting import Setting
    from modelpicker.cli.shared.result_file import ResultFile
    from modelpicker.collections import ModelCollection
    from modelpicker.encoding import Array
    from modelpicker.experiments.engines import Workforce


@with_reading
def pick(
    context: typer.Context,
    source: SourceArgument,
    labels: LabelsOption = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask at the terminal even where labels are known.")] = False,
    setting: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="pool|stream",
            help="pool: look at all items, and ask about the one most worth a label next. stream: play the items "
            "once, in the order of the file.  [default: pool; --algorithm, --option, --kind, --shuffle "
            "and --play-unlabelled imply stream]",
            show_default=False,
        ),
    ] = None,
    ask_for: Annotated[
        AskFor,
        typer.Option(
            "--ask-for",
            help="What you are asked for: class; grades: a grade for each of the different answers to an item, "
            "which may be free text; preference: which of two answers is better.",
        ),
    ] = "class",
    algorithm: algorithm_options.Named = "model-picker",
    option: algorithm_options.Options = None,
    slice_by: SliceOption = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Stop once this many labels have been bought.", show_default=False)
    ] = None,
    stop_gap: Annotated[
        float | None, algorithm_options.tolerance("0.01 for a pool; a stream is played to its end")
    ] = None,
    confidence: algorithm_options.Confidence = 0.95,
    kind: algorithm_options.KindNamed = None,
    seed: Seed = 0,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Take the items in random order.")] = False,
    play_unlabelled: Annotated[
        bool,
        typer.Option(
            "--play-unlabelled",
            help="Where labels are looked up, also play items that have none; a label that is asked for is then "
            "missing.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where labels are looked up: a file for every decision (.jsonl), which is not written by default. "
            "Where you are asked: the file of your answers.  [default: NAME.pool.jsonl beside FILE; for a stream "
            "the campaign NAME.pick.db]",
            show_default=False,
        ),
    ] = None,
    by: AnnotatorOption = None,
    judge: JudgeOption = None,
    warm: WarmOption = None,
    loss: LossOption = None,
    price: PriceOption = None,
    label_noise: LabelNoiseOption = 0.0,
    engine: ScanEngine = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    reading: Any = None,
    as_json: Json = False,
) -> None:
    """Pick the best model of a file with few labels.

    A file is a pool: all items are there, the one most worth a label is asked about next, and it ends when the pick
    is proven for exactly these items. If your file is a stream, say --as stream: Model Picker, or another
    --algorithm, then plays the items once, in their order.

    A folder of tables, or a pattern in quotes such as 'folder/*.parquet', counts as one file. If it is larger than
    memory, add --engine threads, or --engine dask.

    Labels are looked up in the file, or in the file given by --labels, but only those that are asked for.

    Where there are no labels at all, you are asked: one key per class, s to skip, u to undo, m to ask whether you
    may stop, q to quit. Answers are saved at once, in NAME.pool.jsonl. Run the same command to continue. A
    stream's answers are a campaign in NAME.pick.db, and `label` and `serve` work on it too. With --labels and one
    of these files, another pick uses your answers, and asks only for the others.

    If models write free text, say --ask-for grades: the different answers to an item are shown as cards, without
    model names, and get one key each. With --ask-for preference you say which of two answers is better. --same
    says which answers count as the same.

    """
    typed: dict[str, Any] = {
        name: value
        for name, value in context.params.items()
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    given = algorithm_options.parse_options(option or [])
    goal, options = _goal(algorithm, given, budget, stop_gap, confidence, kind, label_noise)
    typed["option"] = given
    typed |= {name: getattr(reading, name) for name in ("models", "classes") if name in typed}
    request = PickRequest(
        source=source,
        labels=labels,
        algorithm=algorithm,
        options=options,
        goal=goal,
        seed=seed,
        shuffle=shuffle,
        play_unlabelled=play_unlabelled,
        out=out,
        by=by,
        reading=reading,
        confidence=confidence,
        tolerance=stop_gap,
        judge=judge,
        warm=warm,
        slice=slice_by,
        typed=typed,
        ask_for=ask_for,
        costs=typed_costs(loss, price, label_noise),
        missing=reading.missing,
        how=_workforce(engine, workers, scheduler),
    )
    as_pool = _setting(setting, typed, bool(given)) == "pool" and not _is_begun_stream(request, setting, ask)
    if not as_pool:
        refuse_for_stream(judge, warm)
    if slice_by is not None and not as_pool:
        raise typer.BadParameter(
            "only a pool can have slices; leave it out, or add --as pool.", param_hint="--slice"
        )
    if not as_pool and ask_for != "class":
        raise typer.BadParameter(
            "grades and preferences need a pool; leave it out, or say --as pool.", param_hint="--ask-for"
        )
    if not as_pool and request.how is not None:
        raise typer.BadParameter("only a pool is scanned; leave it out, or add --as pool.", param_hint="--engine")
    report = pick_pool(request, ask) if as_pool else _pick(request, ask)
    print_json(report.document()) if as_json else report.print()


def _workforce(engine: str | None, workers: int | None, scheduler: str | None) -> "Workforce | None":
    """Who scans the files, if anybody is to."""
    from modelpicker.experiments.engines import Workforce

    if engine is None and workers is None and scheduler is None:
        return None
    return Workforce("dask" if scheduler else engine or "threads", workers, scheduler)


def _setting(said: str | None, typed: Mapping[str, Any], options: bool) -> "Setting":
    """Whether the file is a pool or a stream; what is not valid is wrong usage."""
    from modelpicker.campaigns.pick_setting import choose_setting

    only = {name: name in typed for name in ("algorithm", "kind", "shuffle", "play_unlabelled")}
    given = {f"--{name.replace('_', '-')}": value for name, value in only.items()}
    try:
        return choose_setting(said, {**given, "--option": options})
    except InputError as error:
        hint = "--as" if error.parameter == "setting" else error.parameter
        raise typer.BadParameter(str(error), param_hint=hint) from None


def _is_begun_stream(request: PickRequest, said: str | None, ask: bool) -> bool:
    """Whether there is a campaign of this file, and nobody asked for a pool: then it is continued."""
    if said is not None or not (ask or request.labels is None or is_answers(request.labels)):
        return False
    if find_journal(request.source, request.out, request.labels).exists() and request.out is None:
        return False
    place = pick_campaign.find_place(request.source, request.out, request.labels, request.algorithm)
    if pick_campaign.find_begun(place, request.source) is None:
        return False
    say(visible(f"{place} has a campaign that plays this file as a stream: continuing with it."))
    say("(To start again with the file as a pool: --as pool)")
    return True


def _goal(
    algorithm: str,
    given: dict[str, Any],
    budget: int | None,
    stop_gap: float | None,
    confidence: float,
    kind: str | None,
    label_noise: float,
) -> "tuple[Goal, dict[str, Any]]":
    """When to stop, and the options of the algorithm; what is not valid is wrong usage."""
    from modelpicker.algorithms.registry import find_algorithm
    from modelpicker.campaigns.offline import make_goal

    algorithm_options.check_name(algorithm)
    algorithm_options.check_options(algorithm, given)
    rule = algorithm_options.stopping_rule(stop_gap, confidence, kind)
    return make_goal(
        find_algorithm(algorithm),
        given,
        budget=budget,
        tolerance=stop_gap,
        confidence=confidence,
        certificate=None if kind is None else rule.kind,
        label_noise=label_noise,
    )


def _pick(request: PickRequest, ask: bool) -> PickReport:
    """Look labels up where they are known, continue with a campaign that was started, or begin one."""
    from modelpicker.campaigns.offline import check_can_choose, known_labels

    place = pick_campaign.find_place(request.source, request.out, request.labels, request.algorithm)
    asks = ask or request.labels is None or is_answers(request.labels)
    begun = pick_campaign.find_begun(place, request.source) if asks else None
    request = _as_begun(request, begun)
    collection, request = read_labelled(request)
    request = _with_costs(request, collection)
    print_notes(collection.notes)
    say(f"models: {some_names(collection.models)}")
    check_can_choose(collection, request.source)
    known, total = known_labels(collection), len(collection)
    if begun is None and known and not ask and not (known < total and is_answers(request.labels)):
        if known < total and not request.play_unlabelled:
            say(f"{known:,} of {count(total, 'item')} have labels; the others are left out.")
            say(f"(To be asked for the others: --ask --labels {request.labels or request.source})")
        return _look_up(collection, request)
    if begun is None and request.labels is None:
        request, collection = with_old_answers(request, collection)
        known = known_labels(collection)
    if known and request.labels is not None:
        say(f"{known:,} of {count(total, 'item')} have labels, which are used; you are asked for the others.")
    return pick_campaign.ask_person(collection, request, begun)


def _as_begun(request: PickRequest, begun: "Campaign | None") -> PickRequest:
    """The same request; the file is read as the campaign was started, where nothing else was typed."""
    source = None if begun is None else begun.settings.source
    if source is None:
        return request
    labels = request.labels
    if labels is None and source.labels is not None:
        labels = source.labels_there
        if labels is None:
            say(visible(f"{source.labels} is not there any more: labels that it had are asked for."))
    reading = type(request.reading)(**{**source.reading, **request.reading.document()})
    return replace(request, reading=reading, labels=labels)


def _with_costs(request: PickRequest, collection: "CollectionSource") -> PickRequest:
    """The same request; what mistakes and models cost is among the options of the algorithm, where it was typed."""
    from modelpicker.algorithms.registry import find_algorithm
    from modelpicker.campaigns.offline import read_whole
    from modelpicker.campaigns.pool_costs import check_priced
    from modelpicker.campaigns.setting_options import COSTS

    typed = [name for name in COSTS if name in request.typed]
    if not typed:
        return request
    costs = read_costs(read_whole(collection), request, {})
    if costs.price is not None:
        check_priced(find_algorithm(request.algorithm))
    found, stored = costs.goal(), costs.document()
    options = dict(request.options)
    options |= {name: found[name] for name in ("loss", "price") if name in typed and name in stored}
    spelt = dict(request.typed)
    spelt |= {name: stored.get(name) for name in typed}
    return replace(request, options=options, typed=spelt)


def _look_up(collection: "CollectionSource", request: PickRequest) -> PickReport:
    """Play a collection whose labels are known; every decision is written down if somebody asks for it."""
    from modelpicker.algorithms.registry import find_algorithm
    from modelpicker.campaigns.offline import make_run
    from modelpicker.cli.shared.result_file import result_file

    with waiting("Looking at the models"):
        run = make_run(
            collection,
            find_algorithm(request.algorithm),
            request.options,
            request.goal,
            seed=request.seed,
            shuffle=request.shuffle,
            play_unlabelled=request.play_unlabelled,
        )
    if request.out is None:
        return _played(run, request)
    with result_file(request.out) as written:
        costs = {"costs": found} if (found := _costs_of(request)) else {}
        written.write_header(run, seed=request.seed, shuffle=request.shuffle, **costs, **request.reading_again())
        report = _played(run, request, written)
        written.write_summary(report.document())
    return report


def _played(run: "Run", request: PickRequest, written: "ResultFile | None" = None) -> PickReport:
    """What comes of a run."""
    from modelpicker.campaigns.pool_costs import PoolCosts

    passed_over = False
    with progress("Playing", run.to_play) as bar:

        def watch(trace: "Trace", piece: "ModelCollection", places: "Array") -> None:
            nonlocal passed_over
            if written is not None:
                written.write_decisions(trace, piece, places, run.picker.rounds)
            passed_over |= bool(((trace.probability > 0.0) & ~trace.queried).any())
            bar.advance(bar.task_ids[0], len(trace))

        found = run.play_all(watch)
    spent_at_the_end = run.stopped == "budget" and run.picker.rounds == run.to_play
    return PickReport(
        pick=found,
        algorithm=request.algorithm,
        options=run.picker.options,
        seed=request.seed,
        items=len(run.source),
        to_play=run.to_play,
        stopped="end" if spent_at_the_end else run.stopped,
        goal=request.goal.stop_when or run.picker.aim,
        out=None if request.out is None else str(request.out),
        passed_over=passed_over,
        costs=PoolCosts.load(_costs_of(request)),
    )


def _costs_of(request: PickRequest) -> dict[str, Any]:
    """What mistakes and models cost, and how many labels may be wrong: only what was typed."""
    from modelpicker.campaigns.setting_options import COSTS

    return {name: request.typed[name] for name in COSTS if request.typed.get(name)}
