"""The description of the API: what FastAPI finds, and what it cannot know about problems, tokens and examples."""

import re
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI

from modelpicker.server.api.documents.problems import ProblemDocument
from modelpicker.server.api.examples import EXAMPLES

DESCRIPTION = """Find the best of your pre-trained classifiers on your own data, with as few labels as possible.

Programs send items with what the models say about them, and are told which labels are worth buying; people send
labels; at any time the campaign names the best model. Whatever is answered is on disk. Errors are problems as RFC
9457 has them. Items with a `key` may be sent again, whatever went wrong: the same key returns the same decision. A
label that is told twice counts once."""
TAGS = [
    {"name": "campaigns", "description": "Begin campaigns and describe them; let models join and leave."},
    {"name": "rounds", "description": "Send items; be told which labels are worth buying."},
    {"name": "labels", "description": "Find the queries that wait; tell, skip and take back labels."},
    {"name": "standing", "description": "Which model leads, how the result came about, and downloads."},
    {"name": "files", "description": "Send files of predictions."},
    {"name": "session", "description": "Sign in on the page."},
    {"name": "health", "description": "Whether the server runs and is ready, and its metrics."},
]
SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token of `modelpicker tokens create`."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "modelpicker",
        "description": "The same, as signing in on the page leaves it in a browser.",
    },
}
SENTENCE = re.compile(r".+?[.?](?=\s|$)", re.DOTALL)


def describe_api(app: FastAPI) -> None:
    """Complete the description of an application, when somebody asks for it."""
    make = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _complete(make())
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]


def _complete(document: dict[str, Any]) -> None:
    parts = document["components"]
    schemas = parts["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    problem = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= problem.pop("$defs")
    schemas["Problem"] = problem
    for name, example in EXAMPLES.items():
        schemas[name]["examples"] = [example]
    parts["securitySchemes"] = SCHEMES
    document["security"] = [{}, {"token": []}, {"session": []}]
    for operation in _operations(document):
        if "HTTPValidationError" in str(operation["responses"].get("422")):  # a path that takes anything
            del operation["responses"]["422"]
        first = SENTENCE.match(operation["description"])
        operation["summary"] = (first[0] if first else operation["description"]).replace("\n", " ").rstrip(".")


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in document["paths"].values():
        yield from path.values()
