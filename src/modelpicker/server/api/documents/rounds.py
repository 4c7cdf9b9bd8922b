"""Items with their predictions, and what was decided about them."""

from itertools import chain
from types import NoneType
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, StrictStr, WithJsonSchema

from modelpicker.server.api.documents.fields import MOST_ROUNDS, Called, Chance, Count, Taken

SAID = {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}
ROW = {"anyOf": [{"type": "object", "additionalProperties": SAID}, {"type": "array", "items": SAID}]}


def _check_row(row: Any) -> Any:
    """Predictions by name or in order: strings, whole numbers and nulls."""
    if type(row) is dict:
        kinds = set(map(type, row.values()))
    elif type(row) is list:
        kinds = set(map(type, row))
    else:
        raise ValueError("predictions are an object by model, or a list in the order of the models")
    if not kinds <= {str, int, NoneType}:
        raise ValueError("a prediction is a string, a whole number, or null where a model abstains")
    return row


def _check_rows(rows: list[Any]) -> list[Any]:
    if set(map(type, rows)) == {list} and set(map(type, chain.from_iterable(rows))) <= {str, int, NoneType}:
        return rows  # the usual case, at a look
    for row in rows:
        _check_row(row)
    return rows


# Looked at by hand, at a fifth of what a union of unions costs: there may be millions of them.
Predictions = Annotated[
    Any,
    AfterValidator(_check_row),
    WithJsonSchema(ROW),
    Field(
        description="What each model says: by name, or in the order of the models; null where one abstains, -2 "
        "where it was not run.",
        examples=[{"bert": "spam", "roberta": "ham"}],
    ),
]
ItemField = Annotated[
    dict[str, Any] | None,
    Field(description="What people see of the item.", examples=[{"text": "You have won!"}]),
]
Key = Annotated[
    StrictStr | None,
    Field(
        min_length=1,
        max_length=500,
        description="Your own name for the item: the same key again returns the same decision.",
        examples=["msg-17"],
    ),
]


class NewRound(Taken):
    """An item, and what the models say about it."""

    predictions: Predictions
    item: ItemField = None
    key: Key = None


class NewRounds(Taken):
    """Many items at once."""

    predictions: Annotated[
        list[Any],
        AfterValidator(_check_rows),
        WithJsonSchema({"type": "array", "maxItems": MOST_ROUNDS, "items": ROW}),
        Field(
            max_length=MOST_ROUNDS,
            description="A row per round: what each model says, by name or in the order of the models.",
            examples=[[["spam", "ham"], ["ham", "ham"]]],
        ),
    ]
    items: Annotated[
        Annotated[list[dict[str, Any] | None], Field(fail_fast=True, max_length=MOST_ROUNDS)] | None,
        Field(description="One per round."),
    ] = None
    keys: Annotated[
        Annotated[list[Key], Field(fail_fast=True, max_length=MOST_ROUNDS)] | None,
        Field(description="One per round.", examples=[["msg-17", "msg-18"]]),
    ] = None


class Decided(BaseModel):
    """What the campaign decided of a round."""

    id: Annotated[Count, Field(description="What the round is called from now on: its number.")]
    key: Annotated[str | None, Field(description="What the item was asked with.")]
    query: Annotated[bool, Field(description="Whether the label is asked for.")]
    probability: Annotated[Chance, Field(description="With what probability it was to be.")]
    prediction: Annotated[Called | None, Field(description="The label that is predicted; null for none.")]
    recommended: Annotated[Called, Field(description="The best model so far.")]
    racing: Annotated[
        list[Called],
        Field(description="The models still in the race; the others need not be run any more."),
    ]


class DecidedMany(BaseModel):
    """Decisions, in the order of the rounds."""

    decisions: list[Decided]
