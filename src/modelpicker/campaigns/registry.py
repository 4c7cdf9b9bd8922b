"""Making, finding and listing campaigns."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete

from modelpicker.algorithms import Algorithm
from modelpicker.algorithms.budgets import BudgetWay
from modelpicker.algorithms.registry import AlgorithmChoice
from modelpicker.algorithms.validation import Models
from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.events.event_reader import Head
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Joining, Leaving, Revision
from modelpicker.campaigns.input.pool_source import PoolSource
from modelpicker.campaigns.input.slices import slice_name
from modelpicker.campaigns.kernel_needs import KernelNeed
from modelpicker.campaigns.names import NAME, check_name
from modelpicker.campaigns.offline import given_labels, read_whole, refuse_warm_of_stream
from modelpicker.campaigns.offline_pool import find_loss, find_price
from modelpicker.campaigns.pool_campaign import PoolCampaign
from modelpicker.campaigns.setting_options import (
    BY_NAME,
    JUDGE,
    AskFor,
    OverlapRule,
    check_judge_name,
    check_slice_name,
    check_stored_same,
    refuse_judge_of_stream,
    refuse_slice_of_stream,
)
from modelpicker.campaigns.settings import CampaignSettings, stored_document
from modelpicker.campaigns.state.pool_items import first_items
from modelpicker.campaigns.storage.backup import Progress
from modelpicker.campaigns.storage.campaign_rows import add_campaign, all_campaigns, find_campaign
from modelpicker.campaigns.storage.database import Storage, open_storage
from modelpicker.campaigns.storage.schema import campaigns, metadata
from modelpicker.campaigns.terms import check_guidelines
from modelpicker.certificates.certificate import Certified
from modelpicker.collections.same_answers import SameAnswers
from modelpicker.encoding import ClassName, Missing
from modelpicker.errors import InputError, ModelPickerError, NotFoundError, StorageError, brief


@dataclass(frozen=True, slots=True)
class Listed:
    """A campaign as lists show it.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://listed", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> mp.list_campaigns("memory://listed")[0].name
    'tickets'
    """

    name: str
    created: int
    """Microseconds since 1970."""
    rounds: int
    models: int
    algorithm: str
    budget: int | None
    events: int
    damage: str = ""
    """Why it cannot be opened, where its settings were changed or damaged: then nothing is known about those."""


def create_campaign(
    storage: str,
    name: str,
    *,
    models: Models | None = None,
    classes: Sequence[ClassName] | None = None,
    budget: int | None = None,
    budget_way: BudgetWay = "paced",
    expected_rounds: int | None = None,
    stop_when: Certified | None = None,
    overlap: float = 1,
    overlap_rule: OverlapRule = "all",
    ask_for: AskFor = "class",
    same: str | float = "exact",
    missing: Missing = "abstained",
    seed: int = 0,
    algorithm: AlgorithmChoice = "model-picker",
    options: Mapping[str, Any] | None = None,
    pool: object = None,
    tolerance: float | None = None,
    confidence: float | None = None,
    use_labels: bool = False,
    judge: object = None,
    warm: object = None,
    slice: object = None,  # noqa: A002 - as users say it
    loss: object = None,
    price: object = None,
    label_noise: float = 0.0,
    guidelines: str = "",
    progress: Progress | None = None,
) -> Campaign:
    """Begin a campaign: on a stream, whose items arrive one by one; or on a pool, whose items are all there.

    A pool is a file, a collection or a data frame. What is asked next is decided when somebody is ready to answer,
    and it ends when the pick is proven for exactly these items. Only models, classes, budget, overlap,
    overlap_rule, ask_for, same, missing and seed go with it.

    Args:
        storage: `sqlite:///file.db` (made where there is none), `postgresql://…`, or `memory://` for tests.
        name: letters, digits, spaces and `.`, `-`, `_`; there must be no campaign of that name.
        models: The models: their names, or how many there are.
        classes: The classes that may occur. By default, whatever models and labels say.
        budget: At most this many labels are bought. By default, as many as the algorithm asks for.
        budget_way: How the budget is kept: paced spreads it over the stream; with cap the algorithm asks as it
            would without one, until it is spent.
        expected_rounds: How many items will come in all, as far as you know: a budget is spread over them.
        stop_when: No label is asked for while the pick is certified to be this close to the best model. By default,
            it does not stop for that. Items that come meanwhile count against a certificate of the stream, so that
            it may ask again.
        overlap: How many different people label each item: 2 or more, or a share such as 0.2 of the items that two
            people label. Each of their labels counts against the budget. An item whose labels differ counts as the
            worst until `settle` says what it is.
        overlap_rule: When several people label an item, what makes their answers its label. all: all of them say
            the same. majority: more than half of them say the same; then nobody else is asked. Otherwise the owner
            settles it.
        ask_for: What people are asked for: the class of an item; a grade for each of the different answers to it;
            or which of two answers is better.
        same: What counts as the same answer to an item: exact; normalised, where capitals, white space and
            punctuation at the ends do not matter; or a number: answers that are numbers and at most this far apart.
            The most frequent spelling is kept.
        missing: What it means that a prediction is missing. abstained: the model has no answer, which counts as
            wrong. not-run: the model was not run for this item, and nothing is known about it. `racing` says which
            models have to be run.
        seed: The seed of all randomness: the same seed and the same predictions give the same decisions.
        algorithm: Decides which labels are asked for, and which model is recommended. Its name, or a class of your
            own that passes `check_algorithm`.
        options: Options of the algorithm; those left out keep their defaults.
        pool: the items: a file, a collection (`mp.load_collection` says how a file is read), a data frame, or a
            matrix. Its models are those of the source, unless `models` names some of them.
        tolerance: How much less accurate than the best model the pick may be: 0.01 is 1 % of accuracy, and the
            default. For a pool.
        confidence: of the proof; 0.95 by default. For a pool.
        use_labels: whether labels that come with the items are known from the start. By default they are left out:
            they are often there to check the result with. For a pool.
        judge: cheap labels that may be wrong; a good judge saves labels, and no statement depends on it. The name
            of the column, or of the field of each item, that holds what it says: nobody who labels sees it. Or a
            function of an item, or one class per item; items that come later have it in the field `judge`. For a
            pool.
        slice: also find the best model of each slice, which is the items that share a value; labels and the error
            are shared. The name of the column, or of the field of each item, that has the value: a language, a
            customer. Or a function of an item, or one value per item; items that come later have it in the field
            `slice`. For a pool.
        warm: labels that exist already and are right, in any form that `mp.pick` takes: known from the start, as
            with `use_labels`. For a pool.
        loss: what mistakes cost: "accuracy" (the default), weights by class, costs by class and answer, or a
            `Loss`. "balanced" counts all classes the same, by how frequent they are among the labels of the source.
            The tolerance and the certificate are about it. For a campaign that asks for classes; "balanced" is for
            a pool, on a stream pass `Loss.balanced` with a share for each class.
        price: what each model costs per item, by its name: the pick is then the cheapest model that is certified.
            For a pool, and for a stream with the algorithm race.
        label_noise: the probability that a label is wrong, at most: certificates allow for it, and are wider.
        guidelines: what annotators read beside the item.
        progress: told how many items of the pool are stored, and of how many.

    >>> campaign = create_campaign("memory://doctest", "tickets", models=["bert", "roberta"], budget=20)
    >>> decision = campaign.ask({"bert": "spam", "roberta": "ham"}, item={"text": "Hello"}, key="msg-17")
    >>> if decision.query:
    ...     campaign.tell(decision.id, "spam")
    >>> campaign.best().model
    'bert'

    >>> campaign = create_campaign("memory://doctest", "digits", pool="digits", tolerance=0.02, budget=100)
    >>> question = campaign.pending(1)[0]
    >>> campaign.tell(question.id, 7)
    >>> campaign.counts().labels, campaign.best().state.name
    (1, 'running')
    """
    given = {
        "models": models,
        "classes": classes,
        "budget": budget,
        "budget_way": budget_way,
        "expected_rounds": expected_rounds,
        "stop_when": stop_when,
        "overlap": overlap,
        "overlap_rule": overlap_rule,
        "ask_for": ask_for,
        "same": same,
        "missing": missing,
        "seed": seed,
        "algorithm": algorithm,
        "options": options,
    }
    check_guidelines(guidelines)
    if pool is not None:
        check_name(name)
        rule = SameAnswers.of(check_stored_same(same))
        judge_name = judge if judge is None or isinstance(judge, str) else JUDGE
        sliced = check_slice_name(slice_name(slice), judge=check_judge_name(judge_name))
        source = PoolSource.open(
            pool, models, judge_name, slice=sliced, same=same, missing=BY_NAME["missing"].check(missing)
        )
        if isinstance(pool, str | Path):
            source.check_slice()
        source = source.judged_by(judge).sliced_by(slice)
        known = {} if warm is None else given_labels(read_whole(source.found), warm, rule.rule)
        goal: dict[str, Any] = {"tolerance": tolerance, "confidence": confidence}
        goal |= {"judge": judge_name, "slice": sliced}
        goal |= {
            "loss": pool_loss(loss, source, known),
            "price": find_price(price, source.found),
            "label_noise": label_noise,
        }
        settings = CampaignSettings.check_pool(**given | {"models": source.models}, **goal)
        if classes is None:
            settings.costs.check_spelling(source.classes, rule)
        settings.costs.check_named(source.classes if settings.classes is None else settings.classes)
        return _begin_pool(storage, name, settings, source, use_labels, known, guidelines, progress)
    refuse_judge_of_stream(judge)
    refuse_slice_of_stream(slice)
    refuse_warm_of_stream(warm)
    _check_stream(models, tolerance, confidence, use_labels)
    settings = CampaignSettings.check(**given, loss=loss, price=price, label_noise=label_noise)
    return begin_campaign(storage, name, settings, guidelines)


def pool_loss(loss: object, source: PoolSource, given: Mapping[int, ClassName]) -> object:
    """A loss that can be stored; "balanced" is by the labels of the source, which is read for that."""
    by_labels = isinstance(loss, str) and loss == "balanced"
    return find_loss(loss, read_whole(source.found), given) if by_labels else loss


def _check_stream(models: object, tolerance: object, confidence: object, use_labels: object) -> None:
    """Refuse what goes with a pool only."""
    if models is None:
        raise InputError(
            "models: pass the models of the stream, or pool= with a file of items.", parameter="models"
        )
    for name, value in (("tolerance", tolerance), ("confidence", confidence), ("use_labels", use_labels or None)):
        if value is not None:
            raise InputError(
                f"{name}={brief(value)} goes with pool= only; for a stream, pass stop_when=mp.Certified(…), or the "
                "options of algorithm='race'.",
                parameter=name,
            )


def _begin_pool(
    storage: str,
    name: str,
    settings: CampaignSettings,
    source: PoolSource,
    use_labels: bool,
    given: Mapping[int, ClassName],
    guidelines: str,
    progress: Progress | None,
) -> Campaign:
    """Begin a campaign on a pool: it is there with all its items, or not at all."""
    opened = open_storage(storage, create=True)
    created = int(time.time() * 1e6)
    with opened.writing() as connection:
        number = add_campaign(connection, name, created, settings)
        store = EventStore(connection, number)
        _note_guidelines(store, created, guidelines)
        first_items(store, settings, created, source, use_labels=use_labels, progress=progress, given=given)
    return make_campaign(opened, number, name, created, settings)


def make_campaign(storage: Storage, number: int, name: str, created: int, settings: CampaignSettings) -> Campaign:
    """A campaign that is in a storage, as this process uses it."""
    kind = Campaign if settings.pool is None else PoolCampaign
    return kind(storage, number, name, created, settings)


def _note_guidelines(store: EventStore, at: int, guidelines: str) -> None:
    """The first event of a campaign, if there are guidelines from the start."""
    if guidelines:
        store.add(1, at, Revision(0, {"guidelines": guidelines}))
        store.move(Head(1, 0, 0))


def begin_campaign(storage: str, name: str, settings: CampaignSettings, guidelines: str = "") -> Campaign:
    """Begin a campaign whose settings have been checked."""
    check_name(name)
    opened = open_storage(storage, create=True)
    created = int(time.time() * 1e6)
    with opened.writing() as connection:
        number = add_campaign(connection, name, created, settings)
        _note_guidelines(EventStore(connection, number), created, guidelines)
    return make_campaign(opened, number, name, created, settings)


def open_campaign(storage: str, name: str, *, algorithm: type[Algorithm] | None = None) -> Campaign:
    """Continue with a campaign.

    `algorithm` is its class, if that is your own and cannot be imported by its name.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://open", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> mp.open_campaign("memory://open", "tickets").rounds
    1
    """
    opened = open_storage(storage)
    with opened.reading() as connection:
        row = find_campaign(connection, name) if NAME.fullmatch(str(name)) else None
        known = [] if row is not None else [one.name for one in all_campaigns(connection)]
    if row is None:
        there = f"it has: {', '.join(known[:10])}" if known else "there is none yet"
        raise NotFoundError(f"there is no campaign {brief(name)} in {opened.url}; {there}.")
    document = stored_document(row.name, row.settings, row.checksum)
    settings = CampaignSettings.load(document, algorithm)
    return make_campaign(opened, row.id, row.name, row.created, settings)


def has_campaign(storage: str, name: str) -> bool:
    """Whether there is a campaign of that name."""
    with open_storage(storage).reading() as connection:
        return bool(NAME.fullmatch(name)) and find_campaign(connection, name) is not None


def list_campaigns(storage: str) -> list[Listed]:
    """The campaigns of a storage, by name.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://list", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> [found.name for found in mp.list_campaigns("memory://list")]
    ['tickets']
    """
    opened = open_storage(storage)
    with opened.reading() as connection:
        return [_listed(connection, row) for row in all_campaigns(connection)]


def kernel_needs(storage: Storage) -> list[KernelNeed]:
    """What the campaigns of a storage need compiled; those that cannot be opened need nothing."""
    with storage.reading() as connection:
        rows = all_campaigns(connection)
    found = []
    for row in rows:
        with suppress(ModelPickerError):
            settings = CampaignSettings.load(stored_document(row.name, row.settings, row.checksum))
            found.append(KernelNeed.of(settings))
    return found


def _listed(connection: Connection, row: Any) -> Listed:
    try:
        settings = stored_document(row.name, row.settings, row.checksum)
    except StorageError as error:  # the others can be used all the same
        return Listed(row.name, row.created, row.rounds, 0, "", None, row.events, str(error))
    kinds = (Joining.kind, Leaving.kind, Revision.kind)
    models, budget = len(settings["models"]), settings["budget"]
    for stored in EventStore(connection, row.id).others(kinds):
        match stored.event:
            case Joining():
                models += 1
            case Leaving():
                models -= 1
            case Revision(changes=changes):
                budget = changes.get("budget", budget)
    return Listed(row.name, row.created, row.rounds, models, settings["algorithm"], budget, row.events)


def delete_campaign(storage: str, name: str) -> None:
    """Delete a campaign with everything that belongs to it, permanently; export it before.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://delete", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> campaign.close()
    >>> mp.delete_campaign("memory://delete", "tickets")
    >>> mp.list_campaigns("memory://delete")
    []
    """
    opened = open_storage(storage)
    with opened.writing() as connection:
        row = find_campaign(connection, name) if NAME.fullmatch(str(name)) else None
        if row is None:
            raise NotFoundError(f"there is no campaign {brief(name)} in {opened.url}.")
        EventStore(connection, row.id).head(lock=True)  # nobody adds to it any more
        for table in reversed(metadata.sorted_tables):
            if "campaign" in table.c:
                connection.execute(delete(table).where(table.c.campaign == row.id))
        connection.execute(delete(campaigns).where(campaigns.c.id == row.id))
