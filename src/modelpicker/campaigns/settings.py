"""What a campaign is made with: checked once, stored as JSON, and never changed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from modelpicker.algorithms import Algorithm
from modelpicker.algorithms.budgets import BudgetWay
from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.registry import (
    algorithm_name,
    find_algorithm,
    known_names,
    make_algorithm,
    usual_options,
)
from modelpicker.algorithms.validation import check_models
from modelpicker.campaigns.input.rows import ClassCodes
from modelpicker.campaigns.pool_costs import PoolCosts, check_priced
from modelpicker.campaigns.setting_options import (
    ADDED_LATER,
    BY_NAME,
    COSTS,
    JUDGE,
    PLAIN,
    POOL_ALGORITHM,
    POOL_GOAL,
    POOL_SETTINGS,
    SETTINGS,
    SLICE,
    AskFor,
    OverlapRule,
    check_judge_name,
    check_overlap,
    check_slice_name,
    check_stored_same,
    loss_of,
)
from modelpicker.campaigns.sources import FileSource
from modelpicker.certificates.certificate import Certified
from modelpicker.certificates.stop_rule import STOP_RULE
from modelpicker.certificates.stream_noise import check_reachable
from modelpicker.coins import check_seed
from modelpicker.collections.same_answers import SameAnswers
from modelpicker.collections.spelling import EXACT
from modelpicker.encoding import ClassName, Missing, ModelName
from modelpicker.errors import InputError, NotFoundError, StorageError, brief
from modelpicker.losses import ACCURATE, Loss


@dataclass(frozen=True, slots=True)
class PoolGoal:
    """When a campaign on a pool is done."""

    tolerance: float
    """How much less accurate than the best model the pick may be."""
    confidence: float


@dataclass(frozen=True)
class CampaignSettings:
    """The settings of a campaign, as `setting_options.SETTINGS` describes them; `kind` is the algorithm."""

    models: tuple[ModelName, ...]
    """Those it began with; others may have joined, and some left."""
    classes: tuple[ClassName, ...] | None
    kind: type[Algorithm] | type[PoolPicker]
    options: Mapping[str, Any]
    seed: int
    budget: int | None
    expected_rounds: int | None
    stop_when: Certified | None = None
    budget_way: BudgetWay = "paced"
    overlap: float = 1
    """How many people label each item, or the share of items that two people label."""
    overlap_rule: OverlapRule = "all"
    """When the labels of several people are the label of an item."""
    ask_for: AskFor = "class"
    """What people are asked for."""
    same: str | float = EXACT
    """What counts as the same answer to an item."""
    missing: Missing = "abstained"
    """What a prediction that is missing stands for."""
    source: FileSource | None = None
    """The file that its items come from, where that is known."""
    stored_checksum: str | None = field(default=None, compare=False)

    @cached_property
    def checksum(self) -> str:
        """That of the stored settings. Every event of rounds carries it, so that the two cannot drift apart."""
        return self.stored_checksum or settings_checksum(self.document())

    @cached_property
    def pool(self) -> PoolGoal | None:
        """The goal of a campaign on a pool; None for a stream."""
        if not issubclass(self.kind, PoolPicker):
            return None
        return PoolGoal(**{option.name: float(self.options[option.name]) for option in POOL_GOAL})

    @cached_property
    def rule(self) -> SameAnswers:
        """What counts as the same answer."""
        return SameAnswers.of(self.same)

    @property
    def judge(self) -> str | None:
        """The field of the items of a pool that holds what the judge says; None if there is no judge."""
        found: str | None = self.options.get(JUDGE) if self.pool is not None else None
        return found

    @property
    def slice(self) -> str | None:
        """The field of the items of a pool that says what slice they are in; None if there are no slices."""
        found: str | None = self.options.get(SLICE) if self.pool is not None else None
        return found

    @cached_property
    def costs(self) -> PoolCosts:
        """The loss, the prices and the noise."""
        return PoolCosts.load({name: self.options[name] for name in COSTS if name in self.options})

    @property
    def plain_options(self) -> dict[str, Any]:
        """The options that are one value each; `costs` has the others, and `facts` tells of them."""
        apart = {*COSTS, *(() if self.pool is None else (SLICE,))}
        return {name: value for name, value in self.options.items() if name not in apart}

    @cached_property
    def loss(self) -> Loss:
        """What labels say about models: what mistakes cost, or what people are asked for."""
        return self.costs.loss if self.ask_for == "class" else Loss.of(loss_of(self.ask_for))

    @property
    def facts(self) -> dict[str, str]:
        """The slices, the loss, the prices and the noise in words, by name."""
        return {**({} if self.slice is None else {"slices": self.slice}), **self.costs.facts()}

    @property
    def stream_kind(self) -> type[Algorithm]:
        """The algorithm of a campaign on a stream."""
        if issubclass(self.kind, PoolPicker):
            raise StorageError("the campaign is on a pool, and has no picker for streams.")
        return self.kind

    @classmethod
    def check_pool(
        cls,
        *,
        tolerance: object = None,
        confidence: object = None,
        judge: object = None,
        slice: object = None,  # noqa: A002 - as users say it
        loss: object = None,
        price: object = None,
        label_noise: object = 0.0,
        **given: Any,
    ) -> Self:
        """Settings of a campaign on a pool, or an error that says what does not make sense."""
        for name in given.keys() - POOL_SETTINGS:
            if given[name] != BY_NAME[name].default:
                raise InputError(
                    f"{name}={brief(given[name])} does not go with a pool; leave it out.", parameter=name
                )
        goal = {"tolerance": tolerance, "confidence": confidence}
        options = {
            one.name: one.check(one.default if goal[one.name] is None else goal[one.name]) for one in POOL_GOAL
        }
        models = check_models(given["models"])
        judge_name = check_judge_name(judge, models)
        slices = check_slice_name(slice, models, judge_name)
        asked = BY_NAME["ask_for"].check(given.get("ask_for", "class"))
        costs = PoolCosts.check(loss, price, label_noise, models=models, ask_for=asked)
        return cls(
            models=models,
            classes=ClassCodes(given.get("classes")).classes,
            kind=PoolPicker,
            options={
                **options,
                **({} if judge_name is None else {JUDGE: judge_name}),
                **({} if slices is None else {SLICE: slices}),
                **costs.document(),
            },
            seed=check_seed(given.get("seed", 0)),
            budget=BY_NAME["budget"].check(given.get("budget")),
            expected_rounds=None,
            overlap=check_overlap(given.get("overlap", 1)),
            overlap_rule=BY_NAME["overlap_rule"].check(given.get("overlap_rule", "all")),
            ask_for=asked,
            same=check_stored_same(given.get("same")),
            missing=BY_NAME["missing"].check(given.get("missing", "abstained")),
        )

    @classmethod
    def check(
        cls,
        *,
        source: object = None,
        loss: object = None,
        price: object = None,
        label_noise: object = 0.0,
        **given: Any,
    ) -> Self:
        """Settings that make sense, or an error that says what does not; they are named as `SETTINGS` has them."""
        if strange := given.keys() - BY_NAME.keys():
            raise TypeError(f"a campaign has no setting {', '.join(sorted(strange))}")
        given = {option.name: option.default for option in SETTINGS if not option.required} | given
        kind, options = find_algorithm(given["algorithm"]), _checked_options(given["options"])
        known = ClassCodes(given["classes"]).classes
        models = check_models(given["models"])
        asked = BY_NAME["ask_for"].check(given["ask_for"])
        costs = PoolCosts.check_stream(loss, price, label_noise, models=models, ask_for=asked, classes=known or ())
        if costs.price is not None:
            check_priced(kind)
        made = cls(
            models=models,
            classes=known,
            kind=kind,
            options=usual_options(kind, None if known is None else len(known)) | options | costs.document(),
            seed=check_seed(given["seed"]),
            stop_when=stopping_rule(given["stop_when"]),
            overlap=check_overlap(given["overlap"]),
            same=check_stored_same(given["same"]),
            source=FileSource.load(source),
            **{option.name: option.check(given[option.name]) for option in PLAIN},
        )
        made._check_together()
        return made

    def _check_together(self) -> None:
        """Refuse settings that do not go with each other, or that cannot be stored."""
        self.check_goal()
        self.check_paid(self.budget)
        if self.budget is None and self.budget_way != BY_NAME["budget_way"].default:
            raise InputError(
                f"budget_way={self.budget_way!r}: there is no budget to keep; pass one, or leave it out."
            )
        try:
            json.dumps(self.document(), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"options {brief(dict(self.options))} cannot be stored: {error}.") from error

    def check_goal(self) -> None:
        """Refuse a stopping rule that does not go with the models or the algorithm."""
        picker = self.make(self.models)
        check_reachable(self.stop_when, self.costs.label_noise)
        if self.stop_when is not None and picker.aim is not None:
            raise InputError(
                f"stop_when: {self.kind.name} stops by itself; leave it out, and set its options tolerance and "
                "confidence."
            )

    def check_paid(self, budget: int | None) -> None:
        """Refuse a budget for a stream whose items several people label: its pace counts items, not labels."""
        if self.overlap != 1 and budget is not None and self.pool is None:
            raise InputError(
                f"overlap={self.overlap} does not go with a budget on a stream, which is kept by items and not by "
                "labels; leave one of them out, or pass the items as a pool."
            )

    def make(self, models: Sequence[ModelName]) -> Algorithm:
        """The picker that a campaign of these models starts with."""
        priced: dict[str, Any] = {} if self.loss == ACCURATE else {"loss": self.loss}
        if self.costs.price is not None:
            by_name = dict(self.costs.price)
            priced["price"] = [by_name[str(name)] for name in models]
        return make_algorithm(self.stream_kind, list(models), self.seed, {**self.plain_options, **priced})

    def document(self) -> dict[str, Any]:
        """The settings as they are stored."""
        stored = {
            "models": list(self.models),
            "classes": None if self.classes is None else list(self.classes),
            "stop_when": None if self.stop_when is None else self.stop_when.document(),
            "seed": str(self.seed),  # may be larger than what other readers of JSON can hold
            "algorithm": self.kind.name if self.pool is not None else algorithm_name(self.stream_kind),
            "options": dict(self.options),
        }
        document = {option.name: stored.get(option.name, getattr(self, option.name, None)) for option in SETTINGS}
        return document if self.source is None else document | {"source": self.source.document()}

    @classmethod
    def load(cls, document: Mapping[str, Any], algorithm: type[Algorithm] | None = None) -> Self:
        """The settings that were stored; `algorithm` is the class, where it cannot be found by its name."""
        try:
            found = stored_settings(document)
            return cls(
                models=check_models(found["models"]),
                classes=None if found["classes"] is None else tuple(found["classes"]),
                kind=algorithm or _found(found["algorithm"]),
                options=dict(found["options"]),
                seed=int(found["seed"]),
                stop_when=stopping_rule(found["stop_when"]),
                overlap=check_overlap(found["overlap"]),
                same=check_stored_same(found["same"]),
                source=FileSource.load(document.get("source")),
                stored_checksum=settings_checksum(document),
                **{option.name: found[option.name] for option in PLAIN},
            )
        except NotFoundError:
            raise
        except (LookupError, TypeError, ValueError) as error:
            raise StorageError(f"the settings of the campaign are damaged: {error}; restore a backup.") from error


def stored_settings(document: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in a stored or exported document; those that older versions lack have their defaults."""
    return {option.name: (ADDED_LATER | dict(document))[option.name] for option in SETTINGS}


def settings_checksum(document: Mapping[str, Any]) -> str:
    """A checksum of everything that decides. Null, and the default of a setting that older ones lack, is absent."""
    plain = json.loads(json.dumps(document))
    told = {
        name: value
        for name, value in plain.items()
        if value is not None and not (name in ADDED_LATER and value == ADDED_LATER[name])
    }
    return hashlib.blake2b(json.dumps(told, sort_keys=True).encode(), digest_size=8).hexdigest()


def stored_document(name: str, text: str, checksum: str | None) -> dict[str, Any]:
    """The settings of a campaign as its storage has them; an error if they are not what they were."""
    try:
        found = json.loads(text)
        document = {**stored_settings(found), **found}
        actual = settings_checksum(document)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise StorageError(
            f"the settings of campaign {name!r} are damaged: {error!r}. Restore a backup."
        ) from error
    if actual != checksum:
        raise StorageError(
            f"the settings of campaign {name!r} were changed in the storage: they do not match their checksum. "
            "Its rounds were decided with other settings. Restore a backup; `modelpicker verify` checks all others."
        )
    return document


def _checked_options(options: object) -> dict[str, Any]:
    """Options of an algorithm, by name; the algorithm checks their values."""
    if options is None:
        return {}
    if not (isinstance(options, Mapping) and all(isinstance(name, str) for name in options)):
        raise InputError(f"options {brief(options)}: pass them by name, such as {{'query_scale': 2.0}}.")
    if refused := [name for name in COSTS if name in options]:
        raise InputError(f"options: {refused[0]} is not an option of an algorithm; pass {refused[0]}= itself.")
    return dict(options)


def stopping_rule(stop_when: object) -> Certified | None:
    """A stopping rule, or what is stored of one."""
    if stop_when is None or isinstance(stop_when, Certified):
        return stop_when
    parts = {part.name for part in STOP_RULE}
    if not isinstance(stop_when, Mapping) or not set(stop_when) <= parts:
        raise InputError(f"stop_when={brief(stop_when)}: pass a rule such as mp.Certified(gap=0.01).")
    return Certified(**stop_when)


def known_algorithm(name: str) -> type[Algorithm]:
    """An algorithm that is installed here: what a file or a request names is not imported from anywhere else."""
    if name not in known_names():
        raise NotFoundError(f"there is no algorithm {brief(name)} here; there are {', '.join(known_names())}.")
    return find_algorithm(name)


def _found(name: str) -> type[Algorithm] | type[PoolPicker]:
    """The class of an algorithm that a campaign was made with."""
    if name == POOL_ALGORITHM:
        return PoolPicker
    try:
        return find_algorithm(name)
    except InputError as error:
        raise NotFoundError(
            f"the campaign was made with algorithm {name}, which is not installed here. {str(error).rstrip('.')}. "
            "Install the package that has it, or pass the class: open_campaign(…, algorithm=YourAlgorithm)."
        ) from error
