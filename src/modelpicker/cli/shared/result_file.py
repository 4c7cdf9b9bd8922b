"""Every decision of a pick whose labels are known, in a file: JSON lines, which `--labels` reads."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import modelpicker
from modelpicker.errors import ConflictError, FileError

if TYPE_CHECKING:
    from modelpicker.algorithms import Trace
    from modelpicker.algorithms.pools.run import PoolTrace
    from modelpicker.campaigns.offline import Run
    from modelpicker.collections import ModelCollection
    from modelpicker.encoding import Array, ClassName

FORMAT = "modelpicker pick 1"


class ResultFile:
    """A line of settings, a line per decision, and a line that says what came of it."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self.path = path
        self._file = file

    def write_header(self, run: "Run", **settings: Any) -> None:
        """The first line: everything that decides what follows."""
        source, picker, goal = run.source, run.picker, run.goal
        self._write(
            {
                "format": FORMAT,
                "version": modelpicker.__version__,
                "labels": "looked up",
                "algorithm": picker.name,
                **settings,
                "options": dict(picker.options),
                "budget": goal.budget,
                "stop_when": None if goal.stop_when is None else goal.stop_when.document(),
                "told": goal.usual.document(),
                "models": list(source.models),
                "classes": list(source.classes),
                "items": len(source),
                "fingerprint": source.fingerprint,
                "play_unlabelled": run.play_unlabelled,
                **({} if run.missing == "abstained" else {"missing": run.missing}),
            }
        )

    def write_decisions(self, trace: "Trace", piece: "ModelCollection", places: "Array", rounds: int) -> None:
        """A line per decision; `rounds` were decided by now."""
        with _explained(self.path):
            self._file.writelines(_lines(trace, piece, places, rounds - len(trace)))

    def write_pool(
        self,
        whole: "ModelCollection",
        trace: "PoolTrace",
        document: dict[str, Any],
        given: "Mapping[int, ClassName]",
        **more: Any,
    ) -> None:
        """All of a pool: settings, labels that were given, those asked for in their order, then missing ones."""
        from modelpicker.campaigns.offline_pool import known_grades
        from modelpicker.label import as_document

        settings = {key: document[key] for key in ("setting", "algorithm", "seed", "options", "budget")}
        self._write(
            {
                "format": FORMAT,
                "version": modelpicker.__version__,
                "labels": "looked up",
                **more,
                **settings,
                "models": list(whole.models),
                "classes": list(whole.classes),
                "items": len(whole),
                "fingerprint": whole.fingerprint,
            }
        )
        for item, known in given.items():
            self._write({"item": item, "query": False, "given": True, "label": known})
        labels, grades = () if whole.labels is None else whole.labels, known_grades(whole)
        for item, stood in zip(trace.items.tolist(), trace.recommended.tolist(), strict=True):
            said = int(whole.predictions[item, stood])
            label = whole.classes[int(labels[item])] if grades is None else as_document(grades(item))
            self._write(
                {
                    "item": item,
                    "query": True,
                    "prediction": None if said < 0 else whole.classes[said],
                    "recommended": whole.models[stood],
                    "label": label,
                }
            )
        for item in trace.skipped.tolist():
            self._write({"item": item, "query": True, "label": None})
        self.write_summary(document)

    def write_summary(self, document: dict[str, Any]) -> None:
        """The last line."""
        keys = ("pick", "rounds", "labels_used", "skipped", "stopped", "reached")
        self._write({key: document[key] for key in keys})

    def _write(self, entry: dict[str, Any]) -> None:
        with _explained(self.path):
            self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")


@contextmanager
def result_file(path: Path) -> Iterator[ResultFile]:
    """A new result file, which is there once it is whole; what is not a result of this kind is not overwritten."""
    from modelpicker.collections.writers import replacing

    _refuse_to_overwrite(path)
    with _explained(path), replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        yield ResultFile(path, file)


def _refuse_to_overwrite(path: Path) -> None:
    with _explained(path):
        if not path.exists():
            return
        if not path.is_file():
            raise ConflictError(f"{path} is a folder or a device; pass another --out.")
        with path.open("rb") as file:
            start = file.read(4096)
    if start and not start.startswith(f'{{"format": "{FORMAT}"'.encode()):
        raise ConflictError(f"{path} exists and is not a result of a pick; pass another --out.")
    if b'"labels": "asked"' in start:
        raise ConflictError(f"{path} is of a pick in which a person was asked; pass another --out.")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn a failure to read or write into one sentence."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error


def _lines(trace: "Trace", piece: "ModelCollection", places: "Array", first: int) -> Iterator[str]:
    """A line of JSON per decision; built by hand, for there may be millions."""
    classes = [json.dumps(name, ensure_ascii=False) for name in (*piece.classes, None)]
    models = [json.dumps(name, ensure_ascii=False) for name in piece.models]
    labels = [-1] * len(trace) if piece.labels is None else piece.labels.tolist()
    columns = (trace.queried, trace.probability, trace.predicted, trace.recommended)
    for place, (item, queried, chance, said, stood) in enumerate(
        zip(places[: len(trace)].tolist(), *(column.tolist() for column in columns), strict=True)
    ):
        told = f', "label": {classes[labels[place]]}' if queried else ""
        asked = "true" if queried else "false"
        yield (
            f'{{"round": {first + place}, "item": {item}, "query": {asked}, "probability": {chance!r}, '
            f'"prediction": {classes[said]}, "recommended": {models[stood]}{told}}}\n'
        )
