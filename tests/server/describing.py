"""The API as its own description has it, and whether answers are what it says."""

import copy
import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx2
import jsonschema_rs

PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Operation:
    """What can be done at a path."""

    method: str
    path: str
    spec: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.spec["operationId"])

    @property
    def errors(self) -> set[int]:
        return {int(status) for status in self.spec["responses"] if int(status) >= 400}

    @property
    def good(self) -> dict[str, Any]:
        """What it answers when all is well."""
        found: dict[str, Any] = next(
            answer for status, answer in self.spec["responses"].items() if int(status) < 300
        )
        return found

    def url(self, **values: object) -> str:
        """The path with its parameters filled in."""
        return self.path.format(**{"name": "tickets", "id": 0, "model": "bert"} | values)


class Api:
    """A server's description of itself."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.operations = [
            Operation(method.upper(), path, spec)
            for path, methods in document["paths"].items()
            for method, spec in methods.items()
        ]
        self._patterns = [
            (re.compile(re.sub(r"{(\w+)}", _pattern, one.path)), one)
            for one in sorted(self.operations, key=lambda one: one.path.count("{"))
        ]
        components = copy.deepcopy(document["components"])
        for schema in components["schemas"].values():
            if "properties" in schema:  # what is not described is not answered
                schema.setdefault("additionalProperties", False)
        self._components = components
        self.validator = cache(self._validator)

    @classmethod
    def of(cls, http: httpx2.Client) -> "Api":
        """The description that a server gives."""
        return cls(http.get("/api/v1/openapi.json").raise_for_status().json())

    def operation(self, name: str) -> Operation:
        return next(one for one in self.operations if one.id == name)

    def find(self, method: str, path: str) -> Operation:
        """The operation that a request is meant for."""
        return next(
            one for pattern, one in self._patterns if one.method == method and pattern.fullmatch(path) is not None
        )

    def check(self, answer: httpx2.Response) -> None:
        """Fail if an answer is not one that is described for its request."""
        operation = self.find(answer.request.method, answer.request.url.path)
        self.check_content(operation, answer.status_code, answer.headers.get("content-type", ""), answer.content)

    def check_content(self, operation: Operation, status: int, kind: str, content: bytes) -> None:
        described = operation.spec["responses"].get(str(status))
        assert described is not None, f"{operation.id}: {status} is not described: {content[:300]!r}"
        if "content" not in described:
            assert content == b"", f"{operation.id}: there should be no body"
            return
        kind = kind.partition(";")[0]
        assert kind in described["content"], f"{operation.id}: {kind} is not described"
        if kind in ("application/json", PROBLEM):
            found = json.loads(content)
            assert self.faults(described["content"][kind]["schema"]["$ref"], found) == []
            assert status < 400 or found["status"] == status

    def faults(self, reference: str, value: Any) -> list[str]:
        """What is wrong with a value by a schema of the description."""
        found = self.validator(reference).iter_errors(value)
        return [f"{'/'.join(map(str, error.instance_path))}: {error.message[:300]}" for error in found]

    def _validator(self, reference: str) -> jsonschema_rs.Draft202012Validator:
        schema = {"$ref": reference, "components": self._components}
        return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def _pattern(parameter: re.Match[str]) -> str:
    return ".*" if parameter[1] == "model" else "[^/]+"
