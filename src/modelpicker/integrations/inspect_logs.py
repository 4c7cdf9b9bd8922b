"""Logs of inspect_ai: `.eval` files, which are zip archives of JSON, or one JSON file each. A model is a log.

They are read without inspect_ai. Its archives are compressed with Zstandard, which `zipfile` cannot read before
Python 3.14; Arrow can.
"""

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from modelpicker.collections.evaluation_records import EvaluationRecord
from modelpicker.collections.evaluation_tools import FileHead
from modelpicker.collections.json_stream import open_json, walk
from modelpicker.errors import FileError, InputError
from modelpicker.integrations.plain_values import as_number, as_text, mapping, prompt_text, texts

NAME = "inspect_ai"
ARCHIVE = ".eval"
HEADER, START, SAMPLES = "header.json", "_journal/start.json", "samples/"
ZSTANDARD = 93
# What scorers write instead of numbers, and what inspect_ai takes it for.
VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
ATTACHMENT = "attachment://"
# No sample of a log is longer than this, unpacked.
LARGEST_MEMBER = 2**30


def find_run(head: FileHead) -> Path | None:
    """The file itself, if it is a log of inspect_ai."""
    if head.path.suffix.lower() == ARCHIVE:
        return head.path
    evaluated = mapping(head.members.get("eval"))
    return head.path if {"task", "model"} <= set(evaluated) and head.has("version", "status") else None


def read_run(path: Path) -> Iterator[EvaluationRecord]:
    """The answers, one at a time."""
    header: Mapping[str, Any] = {}
    for key, value in _archived(path) if path.suffix.lower() == ARCHIVE else _members(path):
        if key == "eval":
            header = mapping(value)
        elif key == "samples" and isinstance(value, Mapping):
            yield _record(header, value)


def _members(path: Path) -> Iterator[tuple[str, Any]]:
    """The members of a JSON log, samples one at a time."""
    with open_json(path) as stream:
        yield from walk(stream, ("samples",))


def _archived(path: Path) -> Iterator[tuple[str, Any]]:
    """The same of an archive. One that was not finished has no header, but a start."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            first = next((name for name in (HEADER, START) if name in names), None)
            if first is None:
                raise InputError(f"{path} is not a log of inspect_ai: it has no {HEADER}.")
            yield "eval", mapping(_load(archive, first)).get("eval")
            for name in names:
                if name.startswith(SAMPLES) and name.endswith(".json"):
                    yield "samples", _load(archive, name)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        struct.error,
        pa.ArrowException,
        NotImplementedError,
    ) as error:
        raise InputError(f"{path} is damaged or cut short: it is not a whole archive ({error}).") from error
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged: a part of it is not JSON ({error}).") from error
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error


def _load(archive: zipfile.ZipFile, name: str) -> Any:
    """A member of an archive, read from JSON."""
    member = archive.getinfo(name)
    if member.file_size > LARGEST_MEMBER:
        raise InputError(f"{archive.filename}: {name} has {member.file_size:,} bytes, which no sample has.")
    if member.compress_type != ZSTANDARD:
        return json.loads(archive.read(member))
    with Path(str(archive.filename)).open("rb") as file:
        packed = _packed(file, member)
    content = pa.CompressedInputStream(pa.BufferReader(packed), "zstd").read(member.file_size + 1)
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise InputError(f"{archive.filename} is damaged: {name} is not what was written.")
    return json.loads(content)


def _packed(file: IO[bytes], member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member as they are in the archive: after its header, whose two last fields have a length."""
    file.seek(member.header_offset)
    name, extra = struct.unpack("<26xHH", file.read(30))
    file.seek(name + extra, 1)
    return file.read(member.compress_size)


def _record(header: Mapping[str, Any], sample: Mapping[str, Any]) -> EvaluationRecord:
    """One sample of a log."""
    model, scores = str(header.get("model")), mapping(sample.get("scores"))
    output, attached = mapping(sample.get("output")), mapping(sample.get("attachments"))
    usage = mapping(sample.get("model_usage"))
    used = mapping(usage.get(model)) or mapping(output.get("usage"))
    time = as_number(sample.get("working_time"))
    return EvaluationRecord(
        item=str(sample.get("id")),
        model=model,
        answer=_resolved(_answer(scores, output), attached),
        task=str(header.get("task")),
        epoch=str(sample.get("epoch", 1)),
        text=_asked(sample, attached),
        references=texts(sample.get("target")) if sample.get("target") not in (None, "", []) else (),
        scores=dict(_numbers(scores)),
        cost=as_number(used.get("total_cost")),
        latency=time if time is not None else as_number(sample.get("total_time")),
        failed=sample.get("error") is not None,
        fields=mapping(sample.get("metadata")),
    )


def _answer(scores: Mapping[str, Any], output: Mapping[str, Any]) -> str | None:
    """What the first scorer took for the answer; else all that the model wrote."""
    first = mapping(next(iter(scores.values()), None))
    answer = as_text(first.get("answer"))
    return answer if answer is not None and answer.strip() else as_text(output.get("completion"))


def _asked(sample: Mapping[str, Any], attached: Mapping[str, Any]) -> str | None:
    """The input as text, with the choices if there are any."""
    text = _resolved(prompt_text(sample.get("input")), attached)
    choices = sample.get("choices")
    if not isinstance(choices, list) or not choices:
        return text
    return "\n".join([text or "", *(f"{chr(ord('A') + place)}) {choice}" for place, choice in enumerate(choices))])


def _resolved(text: str | None, attached: Mapping[str, Any]) -> str | None:
    """A text that is stored elsewhere in the sample, if it is."""
    if text is None or not text.startswith(ATTACHMENT):
        return text
    return as_text(attached.get(text.removeprefix(ATTACHMENT))) or text


def _numbers(scores: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The scores as numbers; a scorer that gives several has a name for each."""
    for scorer, score in scores.items():
        value = mapping(score).get("value")
        for part, one in value.items() if isinstance(value, Mapping) else [("", value)]:
            number = VALUES.get(one) if isinstance(one, str) else as_number(one)
            if number is not None:
                yield f"{scorer}/{part}" if part else scorer, number
