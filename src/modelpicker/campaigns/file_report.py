"""The report on a pick that is a file: answers about a pool, every decision of a pick, or the campaign of a file.

None of them holds the pick itself. It is played again, from the same items and the same labels. It is an error if
that asks for other labels than the file has.
"""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.registry import find_algorithm, make_algorithm
from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.file_campaign import fingerprint_of
from modelpicker.campaigns.input.judges import judge_mark, with_judge_apart
from modelpicker.campaigns.offline import Goal, Run
from modelpicker.campaigns.offline_pool import give_labels, look_up_pool, replay_answers
from modelpicker.campaigns.pick_command import operand, pick_command
from modelpicker.campaigns.pool_costs import PoolCosts
from modelpicker.campaigns.pool_journal import FORMAT as JOURNAL
from modelpicker.campaigns.pool_journal import PoolAnswer, read_journal
from modelpicker.campaigns.registry import list_campaigns, open_campaign
from modelpicker.campaigns.results.assembly import USUAL
from modelpicker.campaigns.results.campaign_report import KNOWN, NAMELESS, campaign_report
from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.results.pool_pick import make_pool_pick, with_course
from modelpicker.campaigns.results.report import AnnotatorCounts, ProofGoal, Report, goal_in_words
from modelpicker.campaigns.slicing import make_pool
from modelpicker.campaigns.storage.sqlite_files import is_sqlite
from modelpicker.certificates.certificate import Certified
from modelpicker.collections import ModelCollection, load_collection
from modelpicker.collections.spelling import EXACT
from modelpicker.encoding import ClassName, check_missing
from modelpicker.errors import ConflictError, FileError, InputError, NotFoundError
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN
from modelpicker.losses import ACCURATE, Loss

RESULT = "modelpicker pick 1"
LONGEST_HEADER = 2**24


class PlayedAgain(NamedTuple):
    """A pick that was played again, and what only its file knows."""

    pick: Pick
    goal: ProofGoal | None
    contested: int


def is_pick(path: Path) -> bool:
    """Whether a file is one that a report can be made of."""
    return path.is_file() and (is_sqlite(path) or _format_of(path) in (JOURNAL, RESULT))


def file_report(path: Path) -> Report:
    """The report on a file that `modelpicker pick` wrote."""
    if is_sqlite(path):
        with _only_campaign(path) as campaign:
            return campaign_report(campaign)
    if _format_of(path) == JOURNAL:
        return _of_journal(path)
    if _format_of(path) == RESULT:
        return _of_result(path)
    raise InputError(f"{path} is not a file that `modelpicker pick` wrote.")


def _format_of(path: Path) -> str | None:
    """What the first line says that a file is."""
    try:
        with path.open("rb") as file:
            line = file.readline(LONGEST_HEADER)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not line.startswith(b'{"format": "modelpicker pick'):
        return None
    try:
        found: str = json.loads(line)["format"]
    except (ValueError, RecursionError, LookupError):
        raise FileError(f"{path}, line 1: it is damaged; restore the file from a copy.") from None
    return found


def _only_campaign(path: Path) -> Campaign:
    """The campaign of an SQLite file, if there is just one."""
    storage = f"sqlite:///{path}"
    names = [listed.name for listed in list_campaigns(storage)]
    if not names:
        raise NotFoundError(f"{path} has no campaign.")
    if len(names) > 1:
        raise InputError(
            f"{path} has {len(names):,} campaigns: {', '.join(names[:5])}{', …' if len(names) > 5 else ''}. "
            f"Name one: modelpicker report NAME --storage {storage}"
        )
    return open_campaign(storage, names[0])


# Answers about a pool.


def _of_journal(path: Path) -> Report:
    """What the answers of people come to."""
    journal = read_journal(path)
    header, answers = journal.header or {}, journal.answers
    whole, said = with_judge_apart(_read(path, header, "file"), header.get("judge"), _same(header))
    mark = None if said is None else judge_mark(cast("list[ClassName | None]", said))
    if header.get("fingerprint") != fingerprint_of(whole) or header.get("judge_mark") != mark:
        raise ConflictError(_other(path, header.get("file")))
    goal: dict[str, Any] = {name: header[name] for name in ("seed", "confidence", "tolerance") if name in header}
    pool = _make_pool(
        whole, header, {**goal, "judge": said, **PoolCosts.load(header).goal(header.get("ask_for", "class"))}
    )
    course = _replay(pool, answers, path)
    given = sum(answer.given for answer in answers)
    known = sum(answer.known for answer in answers) - given
    skipped = sum(answer.label is None for answer in answers)
    budget = header.get("budget")
    spent = budget is not None and pool.labels_used - known - given >= budget
    pick = make_pool_pick(pool, budget=budget, skipped=skipped, spent=spent, given=given)
    times = [answer.time for answer in answers if answer.time is not None]
    return Report(
        title=Path(str(header.get("file"))).stem,
        pick=with_course(pick, pool, course),
        goal=ProofGoal(pool.tolerance, pool.confidence),
        contested=pool.contested,
        known=known,
        annotators=_annotators(answers),
        began=_as_time(min(times)) if times else "",
        ended=_as_time(max(times)) if times else "",
        settings={
            "file": str(header.get("file")),
            "answers": str(path.name),
            **_judge_setting(header),
            **_pool_settings(pool, budget, PoolCosts.load(header)),
            **_slices_of(header),
            **_versions(header),
        },
        repeat=shlex.join(["modelpicker", "pick", operand(str(header.get("file"))), "--out", str(path.name)]),
    )


def _make_pool(whole: ModelCollection, header: Mapping[str, Any], goal: Mapping[str, Any]) -> PoolPicker:
    """The pool of a file, with the slices that it was started with."""
    return make_pool(whole, header.get("slice"), header.get("reading") or {}, **goal)


def _replay(pool: PoolPicker, answers: Iterable[PoolAnswer], path: Path) -> Course:
    """Tell a pool all answers, and note who was recommended after each, and what was proven."""
    labels, recommended, proved = [], [], []
    for answer in replay_answers(pool, answers, path):
        if answer.label is not None:
            labels.append(pool.labels_used)
            recommended.append(pool.recommended)
            proved.append(pool.certificate(pool.confidence).gap)
    return Course(tuple(labels), tuple(recommended), tuple(proved))


def _annotators(answers: Iterable[PoolAnswer]) -> tuple[AnnotatorCounts, ...]:
    found: dict[str, list[int]] = {}
    for answer in answers:
        name = KNOWN if answer.known else answer.by or NAMELESS
        found.setdefault(name, [0, 0])[answer.label is None] += 1
    return tuple(AnnotatorCounts(name, *numbers) for name, numbers in found.items())


# Every decision of a pick.


class ResultLines(NamedTuple):
    """What the lines of a result say."""

    items: list[int]
    """The items that were played, in order; of a pool, those that were asked about."""
    queried: list[bool]
    labels: dict[int, ClassName]
    """The labels that were asked for and known, by item."""
    given: dict[int, ClassName]
    """The labels that existed already, by item."""


def _of_result(path: Path) -> Report:
    """What the decisions of a pick come to."""
    header, decided = _read_result(path)
    if header.get("labels") != "looked up":
        raise InputError(
            f"{path} was written by an older version of modelpicker. To use its answers: modelpicker pick "
            f"{header.get('collection', 'FILE')} --labels {path}"
        )
    found, said = with_judge_apart(_read(path, header, "collection"), header.get("judge"), _same(header))
    whole = _with_labels(path, found, header, decided)
    pool = header.get("setting") == "pool"
    try:
        played = (
            _play_pool(path, whole, said, header, decided) if pool else _play_stream(path, whole, header, decided)
        )
    except (KeyError, TypeError) as error:
        raise FileError(f"{path}, line 1: it is damaged ({error!r}); restore the file from a copy.") from error
    budget = header.get("budget")
    looked_up = header.get("labels_from") or header["collection"]
    if pool:
        settings = _judge_setting(header) | _pool_settings_of(header, budget)
    else:
        options = ", ".join(f"{name}={value}" for name, value in header["options"].items() if name != "price")
        settings = {
            "algorithm": f"{header['algorithm']}{f' ({options})' if options else ''}",
            "seed": str(header["seed"]),
            **PoolCosts.load(header.get("costs") or {}).words(),
            "order": "random" if header.get("shuffle") else "as in the file",
            "budget": "none" if budget is None else f"{budget:,} labels",
        }
    return Report(
        title=Path(str(header["collection"])).stem,
        pick=played.pick,
        goal=played.goal,
        contested=played.contested,
        looked_up=True,
        settings={
            "file": str(header["collection"]),
            "labels": f"looked up in {looked_up}",
            **settings,
            **_slices_of(header),
            **_versions(header),
        },
        repeat=pick_command(header, whole.models),
    )


def _read_result(path: Path) -> tuple[dict[str, Any], ResultLines]:
    """The first line of a result, and what the others say."""
    items: list[int] = []
    queried: list[bool] = []
    labels: dict[int, ClassName] = {}
    given: dict[int, ClassName] = {}
    with path.open("rb") as file:
        header: dict[str, Any] = json.loads(file.readline(LONGEST_HEADER))
        for number, line in enumerate(file, 2):
            try:
                entry = json.loads(line)
                item, label = entry.get("item"), entry.get("label")
            except (ValueError, RecursionError, AttributeError):
                raise FileError(f"{path}, line {number}: it is damaged; restore the file from a copy.") from None
            if type(item) is int and entry.get("given") is True:
                given[item] = label
            elif type(item) is int:
                items.append(item)
                queried.append(entry.get("query") is True)
                if isinstance(label, int | str):
                    labels[item] = label
    return header, ResultLines(items, queried, labels, given)


def _with_labels(
    path: Path, whole: ModelCollection, header: Mapping[str, Any], decided: ResultLines
) -> ModelCollection:
    """The items with the labels of a result, and with the classes of then: codes decide how ties are broken."""
    classes = tuple(header.get("classes") or ())
    code_of = {name: code for code, name in enumerate(classes)}
    same = len(whole) == header.get("items") and list(whole.models) == header.get("models")
    said = {whole.classes[code] for code in np.unique(whole.predictions).tolist() if code >= 0}
    items = [*decided.labels, *decided.items, *decided.given]
    if (
        not same
        or not {*said, *decided.labels.values()} <= set(classes)
        or not all(0 <= item < len(whole) for item in items)
    ):
        raise ConflictError(_other(path, header.get("collection")))
    known = np.array([code_of.get(name, ABSTAINED) for name in whole.classes] + [NOT_RUN, ABSTAINED])
    labels = np.full(len(whole), ABSTAINED)
    for item, label in decided.labels.items():
        labels[item] = code_of[label]
    return ModelCollection.of_codes(known[whole.predictions], labels, whole.models, classes, whole.fields)


def _play_pool(
    path: Path, whole: ModelCollection, judge: object, header: Mapping[str, Any], decided: ResultLines
) -> PlayedAgain:
    options = {name: header["options"][name] for name in ("tolerance", "confidence")}
    costs = PoolCosts.load(header["options"]).goal()
    pool = _make_pool(whole, header, {"seed": header["seed"], **options, "judge": judge, **costs})
    pick, trace = look_up_pool(pool, header.get("budget"), give_labels(pool, decided.given))
    if [*trace.items.tolist(), *trace.skipped.tolist()] != decided.items:
        raise ConflictError(_other_questions(path))
    return PlayedAgain(pick, ProofGoal(pool.tolerance, pool.confidence), pool.contested)


def _play_stream(
    path: Path, whole: ModelCollection, header: Mapping[str, Any], decided: ResultLines
) -> PlayedAgain:
    codes, labels = whole.predictions[decided.items], np.asarray(whole.labels)[decided.items]
    seen = ModelCollection.of_codes(codes, labels, whole.models, whole.classes)
    rule = None if header.get("stop_when") is None else Certified(**header["stop_when"])
    kind = find_algorithm(header["algorithm"])
    costs = PoolCosts.load(header.get("costs") or {})
    options = {**header["options"], **_coded_loss(costs, seen.classes)}
    picker = make_algorithm(kind, seen.models, header["seed"], options, len(seen.classes))
    usual = Certified(**header["told"]) if header.get("told") else rule or USUAL
    missing = check_missing(header.get("missing", "abstained"))
    goal = Goal(header.get("budget"), rule, usual, costs.label_noise)
    run = Run(seen, picker, goal, play_unlabelled=True, missing=missing)
    queried = [asked for trace, _, _ in run.play() for asked in trace.queried.tolist()]
    if queried != decided.queried:
        raise ConflictError(_other_questions(path))
    aim = rule or picker.aim
    contested = int((codes != codes[:, :1]).any(axis=1).sum())
    return PlayedAgain(run.pick(), None if aim is None else ProofGoal(aim.gap, aim.confidence), contested)


def _coded_loss(costs: PoolCosts, classes: Sequence[ClassName]) -> dict[str, Loss]:
    """The loss as an option of the algorithm, whose classes are codes; what was typed may name others."""
    if costs.loss == ACCURATE:
        return {}
    codes = {name: code for code, name in enumerate(classes)}
    for name in costs.loss.classes:
        codes.setdefault(name, len(codes))
    return {"loss": costs.loss.coded(codes)}


# The file that a pick is of.


def _read(path: Path, header: Mapping[str, Any], key: str) -> ModelCollection:
    """The file of items, where it was, or beside the result."""
    source, reading = header.get(key), header.get("reading") or {}
    if not isinstance(source, str) or not isinstance(reading, dict):
        raise FileError(f"{path}, line 1: it does not say which file it is of; restore it from a copy.")
    beside = path.parent / Path(source).name
    try:
        return load_collection(source, **reading)
    except NotFoundError:
        if not beside.exists():
            raise NotFoundError(
                f"{path} is of {source}, which is not there. A report plays the pick again: restore the file, "
                f"or put it beside {path}."
            ) from None
    return load_collection(beside, **reading)


def _same(header: Mapping[str, Any]) -> str | float:
    """What counted as the same answer."""
    found: str | float = (header.get("reading") or {}).get("same", EXACT)
    return found


def _other(path: Path, file: object) -> str:
    return (
        f"{path} belongs to another file: {file} has other items, models or predictions by now. Bring back the "
        "file "
        "that it was, or put that beside it."
    )


def _other_questions(path: Path) -> str:
    return (
        f"{path}: the same items and labels lead to other questions here. The file was written by another version "
        "of modelpicker, or changed by hand. Run the pick again, and make a report of that."
    )


# Settings, and how to repeat it.


def _pool_settings(pool: PoolPicker, budget: int | None, costs: PoolCosts) -> dict[str, str]:
    options = {"confidence": pool.confidence, "tolerance": pool.tolerance, **costs.document()}
    return _pool_settings_of({"options": options, "seed": pool.seed}, budget)


def _judge_setting(header: Mapping[str, Any]) -> dict[str, str]:
    return {"judge": f"column {header['judge']}"} if header.get("judge") else {}


def _pool_settings_of(header: Mapping[str, Any], budget: int | None) -> dict[str, str]:
    options = header["options"]
    return {
        "algorithm": "pool-picker",
        "seed": str(header["seed"]),
        "goal": goal_in_words(ProofGoal(options["tolerance"], options["confidence"])),
        **PoolCosts.load(options).words(),
        "budget": "none" if budget is None else f"{budget:,} labels",
    }


def _slices_of(header: Mapping[str, Any]) -> dict[str, str]:
    """The column of the slices, if there is one."""
    return {"slices": str(header["slice"])} if header.get("slice") else {}


def _versions(header: Mapping[str, Any]) -> dict[str, str]:
    """With what the pick was made, where that is another version than the report's."""
    then = header.get("version")
    return {"picked with": f"modelpicker {then}"} if then and then != version("modelpicker") else {}


def _as_time(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
    except (OverflowError, ValueError, OSError):  # changed by hand
        return ""
