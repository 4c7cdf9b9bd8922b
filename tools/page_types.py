"""Writes `types/api.d.ts`: the server's documents as types, with which the page's JavaScript is checked.

`python -m tools.page_types` writes it again from the API's own description; a test says when that is due.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

TARGET = Path(__file__).parents[1] / "types" / "api.d.ts"
HEADER = """// What the server takes and sends, from its OpenAPI description.
// Do not edit: run .venv/bin/python -m tools.page_types

declare namespace Api {
"""
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def read_schemas() -> dict[str, Any]:
    """The documents that the API describes, by name."""
    from modelpicker.server.app import create_app
    from modelpicker.server.configuration import Configuration

    with TemporaryDirectory() as folder:
        app = create_app(Configuration(storage=f"sqlite:///{folder}/empty.db"))
        schemas: dict[str, Any] = app.openapi()["components"]["schemas"]
    return schemas


def written(schema: dict[str, Any]) -> str:
    """A schema as a type of TypeScript."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if choices := schema.get("anyOf", schema.get("oneOf")):
        return " | ".join(dict.fromkeys(map(written, choices)))
    if "prefixItems" in schema:
        return f"[{', '.join(map(written, schema['prefixItems']))}]"
    if schema.get("type") == "array":
        return f"Array<{written(schema.get('items', {}))}>"
    if schema.get("type") == "object":
        return f"Record<string, {written(values)}>" if (values := values_of(schema)) else "Record<string, unknown>"
    return PLAIN.get(schema.get("type", ""), "unknown")


def values_of(schema: dict[str, Any]) -> dict[str, Any]:
    """What the values of a mapping are; empty where they may be anything."""
    values = schema.get("additionalProperties")
    return values if isinstance(values, dict) else {}


def declared(name: str, schema: dict[str, Any]) -> str:
    """A document as an interface; what has a default may be left out."""
    if "properties" not in schema:
        return f"  type {name} = {written(schema)};\n"
    needed = schema.get("required", [])
    fields = [
        f"    {field}{'' if field in needed else '?'}: {written(one)};\n"
        for field, one in schema["properties"].items()
    ]
    return f"  interface {name} {{\n{''.join(fields)}  }}\n"


def types() -> str:
    """The whole file."""
    return HEADER + "\n".join(declared(name, one) for name, one in sorted(read_schemas().items())) + "}\n"


if __name__ == "__main__":
    TARGET.write_text(types(), "utf-8")
