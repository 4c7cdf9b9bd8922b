"""Every route of the server, from the description that it gives of itself (OpenAPI)."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from modelpicker.server.api.problems import KINDS
from modelpicker.server.app import create_app
from modelpicker.server.configuration import Configuration
from tools.reference_pages.markdown import code, table

Document = dict[str, Any]


@cache
def document() -> Document:
    """The description, of a server without any campaign."""
    found: Document = create_app(Configuration(storage="memory://site")).openapi()
    return found


def operations() -> Iterator[tuple[str, str, Document]]:
    """Each route: its method, its path and what it says about itself."""
    for path, methods in document()["paths"].items():
        for method, spec in methods.items():
            yield method.upper(), path, spec


def page() -> str:
    """All routes, in the groups that the description has."""
    parts: list[str] = []
    for tag in document()["tags"]:
        parts.append(f"## {tag['name'].capitalize()}\n\n{tag['description']}\n")
        parts += [_operation(*one) for one in operations() if one[2]["tags"] == [tag["name"]]]
    return "\n".join(parts)


def problem_table() -> str:
    """What a status means."""
    rows = ((status, code(f"urn:modelpicker:problem:{kind}"), title) for status, (kind, title) in KINDS.items())
    return table(("status", "type", "what it means"), rows)


def _operation(method: str, path: str, spec: Document) -> str:
    parameters = (
        (code(one["name"]), one["in"], kind(one["schema"]), one.get("description", ""))
        for one in spec.get("parameters", ())
    )
    return "\n".join(
        [
            f"### {spec['summary']} {{ #{spec['operationId']} }}\n",
            f"```http\n{method} {path}\n```\n",
            spec["description"].removeprefix(f"{spec['summary']}.").strip() + "\n",
            table(("parameter", "in", "type", "what it is"), parameters),
            _body(spec.get("requestBody", {}).get("content", {})),
            _answers(spec["responses"]),
        ]
    )


def _body(content: Document) -> str:
    """The fields of what is sent, with an example."""
    parts = []
    for media, sent in content.items():
        schema = resolved(sent.get("schema", {}))
        parts.append(f"Send `{media}`:\n")
        parts.append(fields(schema, "needed"))
        if example := _example(sent, schema):
            parts.append(example)
    return "\n".join(parts)


def _answers(responses: Document) -> str:
    """What comes back when all goes well, and which statuses may come instead."""
    parts = []
    for status, answer in responses.items():
        if status.startswith("2"):
            parts.append(f"**{status}**: {answer['description']}\n")
            schema = resolved(answer.get("content", {}).get("application/json", {}).get("schema", {}))
            parts.append(fields(schema))
    wrong = ", ".join(code(status) for status in responses if not status.startswith("2"))
    return "\n".join([*parts, f"Errors: {wrong}.\n"])


def fields(schema: Document, always: str = "always there") -> str:
    """The fields of a document as a table."""
    needed = schema.get("required", [])
    rows = (
        (code(name), kind(one), "yes" if name in needed else "", _explained(one))
        for name, one in schema.get("properties", {}).items()
    )
    return table(("field", "type", always, "what it is"), rows)


def _explained(schema: Document) -> str:
    """What a field says about itself, or else what the document in it does."""
    return str(schema.get("description") or resolved(schema).get("description", "")).split("\n\n")[0]


def _example(sent: Document, schema: Document) -> str:
    examples = [one["value"] for one in sent.get("examples", {}).values()] or schema.get("examples", [])
    shown = json.dumps(examples[0], indent=2, ensure_ascii=False) if examples else ""
    return f"```json\n{shown}\n```\n" if shown else ""


def resolved(schema: Document) -> Document:
    """A schema, or the one that it refers to."""
    name = schema.get("$ref", "").rpartition("/")[2]
    found: Document = document()["components"]["schemas"][name] if name else schema
    return found


def kind(schema: Document) -> str:
    """The type of a field in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if choices := schema.get("anyOf", schema.get("oneOf")):
        return " or ".join(dict.fromkeys(map(kind, choices)))
    if "enum" in schema:
        return " or ".join(code(json.dumps(one)) for one in schema["enum"])
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))
