"""Campaigns' settings and algorithms on the wire: the fields of documents are made from their descriptions."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Field, StrictInt, create_model

from modelpicker.algorithms import ALGORITHMS, Algorithm
from modelpicker.algorithms.registry import usual_options
from modelpicker.campaigns.setting_options import BY_NAME, MOST_PEOPLE, SETTINGS
from modelpicker.certificates.stop_rule import STOP_RULE
from modelpicker.options import LARGEST_SCALE, REQUIRED, Option
from modelpicker.server.api.documents.fields import Called, ClassNameField, Count, ModelNameField, Taken

MOST_MODELS = 10_000
MOST_CLASSES = 100_000

# What JSON Schema calls the types of options.
TYPES: dict[type, str] = {int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def _annotation(option: Option, kind: Any = None) -> Any:
    """The type of a field with the range and the help of an option."""
    choices: Any = option.choices
    known = kind or (Literal[choices] if choices else option.type)
    limits: dict[str, Any] = {
        "gt" if option.above else "ge": option.low,
        "lt" if option.below else "le": option.high,
    }
    limits = {name: value for name, value in limits.items() if value is not None}
    return Annotated[known | None if option.default is None else known, Field(description=option.help, **limits)]


def _taken(option: Option, kind: Any = None) -> Any:
    """A field that is sent to the server."""
    return _annotation(option, kind), ... if option.required else option.default


def _sent(option: Option) -> Any:
    """A field that the server sends."""
    return SENT.get(option.name) or _annotation(option), ...


StoppingRule: Any = create_model(
    "StoppingRule",
    __base__=Taken,
    __doc__="When no more labels need be bought: while the pick has a certificate that is as good.",
    **{part.name: _taken(part) for part in STOP_RULE},
)
PeopleField: TypeAlias = Annotated[int, Field(ge=1, le=MOST_PEOPLE)] | Annotated[float, Field(gt=0, lt=1)]
"""How many people label an item, or the share of items that two people label."""
SameField: TypeAlias = Literal["exact", "normalised"] | Annotated[float, Field(ge=0, le=LARGEST_SCALE)]
"""What counts as the same answer: by name, or how far apart numbers may be."""
# Settings that are more than one value: what is taken, and what is sent where that differs.
TAKEN: dict[str, Any] = {
    "models": Annotated[list[ModelNameField], Field(fail_fast=True, min_length=2, max_length=MOST_MODELS)]
    | Annotated[StrictInt, Field(ge=2, le=MOST_MODELS)],
    "classes": Annotated[list[ClassNameField], Field(fail_fast=True, min_length=1, max_length=MOST_CLASSES)],
    "stop_when": StoppingRule,
    "overlap": PeopleField,
    "same": SameField,
    "algorithm": Annotated[str, Field(json_schema_extra={"enum": list(ALGORITHMS)})],
    "options": dict[str, Any],
}
SENT: dict[str, Any] = {
    "models": Annotated[list[Called] | None, Field(description="Null for annotators who see no predictions.")],
    "classes": Annotated[list[Called] | None, Field(description="Null if any class may be said.")],
    "stop_when": Annotated[StoppingRule | None, Field(description="When no more labels need be bought.")],
    "same": Annotated[SameField, Field(description="What counts as the same answer.")],
    "seed": Annotated[str, Field(description="A whole number, maybe larger than JSON can hold.")],
    "algorithm": str,
    "options": dict[str, Any],
}
# As bases of classes: a new setting is a field of both at once.
SettingsTaken: Any = create_model(
    "SettingsTaken",
    __base__=Taken,
    **{option.name: _taken(option, TAKEN.get(option.name)) for option in SETTINGS},
)
SettingsSent: Any = create_model(
    "SettingsSent",
    **{option.name: _sent(option) for option in SETTINGS},
)


class OptionDocument(BaseModel):
    """A setting of campaigns, or an option of an algorithm."""

    name: str
    title: Annotated[str, Field(description="What a form calls it.")]
    help: Annotated[str, Field(description="One or two sentences about it.")]
    type: Literal["integer", "number", "string", "array", "object"]
    required: Annotated[bool, Field(description="Whether a value must be given.")]
    default: Annotated[Any, Field(description="Its value where none is given.")]
    low: Annotated[float | None, Field(description="The smallest value.")]
    high: Annotated[float | None, Field(description="The largest value.")]
    above: Annotated[bool, Field(description="Whether it must be above the smallest value.")]
    below: Annotated[bool, Field(description="Whether it must be below the largest value.")]
    choices: Annotated[list[str], Field(description="The words that it may be; empty for any.")]
    parts: Annotated[list["OptionDocument"], Field(description="What an object consists of.")]


class AlgorithmDocument(BaseModel):
    """An algorithm, as it describes itself."""

    name: str
    summary: Annotated[str, Field(description="What it does.")]
    when_to_use: str
    promises: Annotated[str, Field(description="What is proven about it.")]
    stops: Annotated[
        bool,
        Field(description="Whether it stops by itself; then its options say when, and `stop_when` is not taken."),
    ]
    options: list[OptionDocument]


class SettingsDocument(BaseModel):
    """What a campaign may be made with."""

    settings: Annotated[
        list[OptionDocument], Field(description="The fields of a new campaign, except for its name.")
    ]
    algorithms: Annotated[list[AlgorithmDocument], Field(description="The algorithms of this server.")]
    longest_name: Annotated[Count, Field(description="How many letters the name of a campaign may have.")]


def option_document(option: Option, usual: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An option on the wire; it is not required where a campaign has a value that is `usual`."""
    default = option.usual if option.required else option.default
    return {
        "name": option.name,
        "title": option.label,
        "help": option.help,
        "type": TYPES[option.type],
        "required": option.required and option.name not in (usual or {}),
        "default": None if default is REQUIRED else default,
        "low": option.low,
        "high": option.high,
        "above": option.above,
        "below": option.below,
        "choices": list(ALGORITHMS) if option is BY_NAME["algorithm"] else list(option.choices),
        "parts": [option_document(part) for part in option.parts],
    }


def algorithm_document(kind: type[Algorithm]) -> dict[str, Any]:
    """An algorithm on the wire."""
    about, usual = kind.about, usual_options(kind, None)
    return {
        "name": kind.name,
        "summary": about.summary,
        "when_to_use": about.when_to_use,
        "promises": about.promises,
        "stops": kind.stops,
        "options": [option_document(option, usual) for option in about.options],
    }
