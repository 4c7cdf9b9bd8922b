"""Where a campaign's items come from, if that is one file: what is needed to read it again, and to continue."""

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from modelpicker.errors import InputError, brief

KINDS: dict[str, tuple[type, ...]] = {
    "file": (str,),
    "fingerprint": (str,),
    "reading": (dict,),
    "labels": (str, type(None)),
    "shuffle": (bool,),
    "out": (str, type(None)),
}


@dataclass(frozen=True)
class FileSource:
    """A file whose items are asked about one after the other."""

    file: str
    fingerprint: str
    """What stands for the models, the items and their predictions."""
    reading: Mapping[str, Any]
    """How the file is read, as `load_collection` has it."""
    labels: str | None = None
    """A file with labels that are known: nobody is asked for them."""
    shuffle: bool = False
    """Whether the items are taken in an order drawn from the seed."""
    out: str | None = None
    """Where the campaign is, if that is not the usual place."""

    @property
    def command(self) -> str:
        """What continues asking about the file's items."""
        file = f"./{self.file}" if self.file.startswith("-") else self.file
        out = ["--out", self.out] if self.out else []
        return shlex.join(["modelpicker", "pick", file, "--as", "stream", *out])

    @property
    def labels_there(self) -> Path | None:
        """The file with known labels, if it still is where it was."""
        return Path(self.labels) if self.labels is not None and Path(self.labels).exists() else None

    def document(self) -> dict[str, Any]:
        """The source as it is stored."""
        return asdict(self)

    @classmethod
    def load(cls, document: object) -> Self | None:
        """What was stored; None for nothing."""
        if document is None or isinstance(document, cls):
            return document
        if not isinstance(document, Mapping) or not set(document) <= set(KINDS):
            raise InputError(f"source {brief(document)}: this is not a file that a campaign takes its items from.")
        for name, value in document.items():
            if not isinstance(value, KINDS[name]):
                raise InputError(f"source: {name} is {brief(value)}.")
        try:
            return cls(**document)
        except TypeError as error:
            raise InputError(f"source {brief(document)}: {error}.") from error
