"""What a campaign is made with: checked once, stored as JSON, and never changed."""

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from modelpicker.algorithms import ALGORITHMS, Algorithm
from modelpicker.algorithms.encoding import ClassName
from modelpicker.algorithms.making import Kind, find_algorithm, make_algorithm, usual_options
from modelpicker.algorithms.options import ModelName, check_count, check_models
from modelpicker.campaigns.rows import Vocabulary
from modelpicker.coins import check_seed
from modelpicker.errors import InputError, NotFoundError, StorageError, brief
from modelpicker.guarantees.certificate import MOST_MODELS, Certified

STORED = ("models", "classes", "algorithm", "options", "seed", "budget", "expected_rounds")


@dataclass(frozen=True)
class Settings:
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

    @classmethod
    def check(
        cls,
        models: object,
        classes: object,
        algorithm: Kind,
        options: Mapping[str, Any] | None,
        seed: object,
        budget: object,
        expected_rounds: object,
        stop_when: object = None,
    ) -> Self:
        """Settings that make sense, or an error that says what does not."""
        kind = find_algorithm(algorithm)
        known = Vocabulary(classes).classes
        given: object = options
        if given is not None and not (isinstance(given, Mapping) and all(isinstance(name, str) for name in given)):
            raise InputError(f"options {brief(options)}: pass them by name, such as {{'query_scale': 2.0}}.")
        if budget is None and expected_rounds is not None:
            raise InputError("expected_rounds paces a budget, but there is none; pass a budget as well.")
        made = cls(
            models=check_models(models),
            classes=known,
            kind=kind,
            options=usual_options(kind, None if known is None else len(known)) | dict(options or {}),
            seed=check_seed(seed),
            budget=None if budget is None else check_count("budget", budget),
            expected_rounds=None if expected_rounds is None else check_count("expected_rounds", expected_rounds),
            stop_when=_rule(stop_when),
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
            )
        except NotFoundError:
            raise
        except (LookupError, TypeError, ValueError) as error:
            raise StorageError(
                f"the settings of the campaign are damaged: {error}; bring back a backup."
            ) from error


def stored_document(text: str) -> dict[str, Any]:
    """The settings of a campaign as its storage has them; an error if they are not all there."""
    try:
        found = json.loads(text)
        return {name: found[name] for name in STORED} | {"stop_when": found.get("stop_when")}
    except (LookupError, TypeError, ValueError) as error:
        raise StorageError(f"the settings of a campaign are damaged: {error!r}; bring back a backup.") from error


def _rule(stop_when: object) -> Certified | None:
    """A stopping rule, or what is stored of one."""
    if stop_when is None or isinstance(stop_when, Certified):
        return stop_when
    fields = {"gap", "confidence", "kind"}
    if not isinstance(stop_when, Mapping) or not set(stop_when) <= fields:
        raise InputError(f"stop_when={brief(stop_when)}: pass a rule such as mp.Certified(gap=0.01).")
    return Certified(**stop_when)


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
