"""What a campaign is made with: checked once, stored as JSON, and never changed."""

import hashlib
import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias, get_args

from modelpicker.algorithms import ALGORITHMS, Algorithm
from modelpicker.algorithms.registry import AlgorithmChoice, find_algorithm, make_algorithm, usual_options
from modelpicker.algorithms.validation import check_count, check_models
from modelpicker.campaigns.input.encoding import ClassCodes
from modelpicker.campaigns.sources import FileSource
from modelpicker.certificates.certificate import MOST_MODELS, Certified
from modelpicker.coins import check_seed
from modelpicker.encoding import ClassName, ModelName
from modelpicker.errors import InputError, NotFoundError, StorageError, brief

STORED = ("models", "classes", "algorithm", "options", "seed", "budget", "expected_rounds")
# Settings that came later: where they are missing, they are as they were before.
STORED_LATER = ("stop_when", "budget_rule", "source")

BudgetRule: TypeAlias = Literal["paced", "cap"]
"""How a budget is kept: spread over the stream; or the algorithm asks as it does by itself until it is spent."""


@dataclass(frozen=True)
class CampaignSettings:
    """Models, classes, algorithm and budget of a campaign."""

    models: tuple[ModelName, ...]
    """Those it began with; others may have joined, and some left."""
    classes: tuple[ClassName, ...] | None
    kind: type[Algorithm]
    options: Mapping[str, Any]
    seed: int
    budget: int | None
    expected_rounds: int | None
    stop_when: Certified | None = None
    budget_rule: BudgetRule = "paced"
    source: FileSource | None = None
    """The file that its items come from, where that is known."""
    stored_checksum: str | None = field(default=None, compare=False)

    @cached_property
    def checksum(self) -> str:
        """That of the stored settings. Every event of rounds carries it, so that the two cannot drift apart."""
        return self.stored_checksum or settings_checksum(self.document())

    @classmethod
    def check(
        cls,
        models: object,
        classes: object,
        algorithm: AlgorithmChoice,
        options: Mapping[str, Any] | None,
        seed: object,
        budget: object,
        expected_rounds: object,
        stop_when: object = None,
        budget_rule: object = None,
        source: object = None,
    ) -> Self:
        """Settings that make sense, or an error that says what does not."""
        kind = find_algorithm(algorithm)
        known = ClassCodes(classes).classes
        given: object = options
        if given is not None and not (isinstance(given, Mapping) and all(isinstance(name, str) for name in given)):
            raise InputError(f"options {brief(options)}: pass them by name, such as {{'query_scale': 2.0}}.")
        made = cls(
            models=check_models(models),
            classes=known,
            kind=kind,
            options=usual_options(kind, None if known is None else len(known)) | dict(options or {}),
            seed=check_seed(seed),
            budget=None if budget is None else check_count("budget", budget),
            expected_rounds=None if expected_rounds is None else check_count("expected_rounds", expected_rounds),
            stop_when=_rule(stop_when),
            budget_rule=_budget_rule(budget_rule),
            source=FileSource.load(source),
        )
        picker = made.make(made.models)
        if made.stop_when is not None and len(made.models) > MOST_MODELS:
            raise InputError(f"stop_when: certificates are for at most {MOST_MODELS} models; leave it out.")
        if made.stop_when is not None and picker.aim is not None:
            raise InputError(
                f"stop_when: {made.kind.name} stops by itself; leave it out, and set its options tolerance and "
                "confidence."
            )
        try:
            json.dumps(made.document(), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"options {brief(dict(made.options))} cannot be stored: {error}.") from error
        return made

    def make(self, models: Sequence[ModelName]) -> Algorithm:
        """The picker that a campaign of these models starts with."""
        return make_algorithm(self.kind, list(models), self.seed, self.options)

    def document(self) -> dict[str, Any]:
        """The settings as they are stored."""
        own = ALGORITHMS.get(self.kind.name) is self.kind
        return {
            "models": list(self.models),
            "classes": None if self.classes is None else list(self.classes),
            "algorithm": self.kind.name if own else f"{self.kind.__module__}:{self.kind.__qualname__}",
            "options": dict(self.options),
            "seed": str(self.seed),  # may be larger than what other readers of JSON can hold
            "budget": self.budget,
            "expected_rounds": self.expected_rounds,
            "stop_when": None if self.stop_when is None else self.stop_when.document(),
            **({} if self.budget_rule == "paced" else {"budget_rule": self.budget_rule}),
            **({} if self.source is None else {"source": self.source.document()}),
        }

    @classmethod
    def load(cls, document: Mapping[str, Any], algorithm: type[Algorithm] | None = None) -> Self:
        """The settings that were stored; `algorithm` is the class, where it cannot be found by its name."""
        try:
            return cls(
                models=check_models(document["models"]),
                classes=None if document["classes"] is None else tuple(document["classes"]),
                kind=algorithm or _found(document["algorithm"]),
                options=dict(document["options"]),
                seed=int(document["seed"]),
                budget=document["budget"],
                expected_rounds=document["expected_rounds"],
                stop_when=_rule(document.get("stop_when")),
                budget_rule=_budget_rule(document.get("budget_rule")),
                source=FileSource.load(document.get("source")),
                stored_checksum=settings_checksum(document),
            )
        except NotFoundError:
            raise
        except (LookupError, TypeError, ValueError) as error:
            raise StorageError(
                f"the settings of the campaign are damaged: {error}; bring back a backup."
            ) from error


def settings_checksum(document: Mapping[str, Any]) -> str:
    """A checksum of everything that decides. A field that is null counts as absent: older settings lack some."""
    plain = json.loads(json.dumps(document))
    text = json.dumps({name: value for name, value in plain.items() if value is not None}, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def stored_document(name: str, text: str, checksum: str | None) -> dict[str, Any]:
    """The settings of a campaign as its storage has them; an error if they are not what they were."""
    try:
        found = json.loads(text)
        document = {name: found[name] for name in STORED} | {"stop_when": None, **found}
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


def _rule(stop_when: object) -> Certified | None:
    """A stopping rule, or what is stored of one."""
    if stop_when is None or isinstance(stop_when, Certified):
        return stop_when
    fields = {"gap", "confidence", "kind"}
    if not isinstance(stop_when, Mapping) or not set(stop_when) <= fields:
        raise InputError(f"stop_when={brief(stop_when)}: pass a rule such as mp.Certified(gap=0.01).")
    return Certified(**stop_when)


def _budget_rule(given: object) -> BudgetRule:
    """How a budget is kept; paced where nothing is said."""
    if given is None or given == "paced":
        return "paced"
    if given != "cap":
        raise InputError(
            f"budget_rule={brief(given)}: pass {' or '.join(map(repr, get_args(BudgetRule)))}.",
            parameter="budget_rule",
        )
    return "cap"


def known_algorithm(name: str) -> type[Algorithm]:
    """An algorithm of modelpicker's own: what a file names is not imported from anywhere else."""
    if name not in ALGORITHMS:
        raise NotFoundError(f"there is no algorithm {brief(name)} here; pass its class as `algorithm`.")
    return ALGORITHMS[name]


def _found(name: str) -> type[Algorithm]:
    """The class of an algorithm that a campaign was made with."""
    if name in ALGORITHMS:
        return ALGORITHMS[name]
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        return find_algorithm(found)
    except (ImportError, AttributeError, ValueError) as error:
        raise NotFoundError(
            f"the campaign's algorithm {name} cannot be imported here: {error}. "
            "Make it importable, or pass the class: open_campaign(…, algorithm=YourAlgorithm)."
        ) from error
