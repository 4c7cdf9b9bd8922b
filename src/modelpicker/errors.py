"""Everything that can go wrong, drawn as a tree.

ModelPickerError
├── InputError       predictions, labels or options that are not valid; a file that cannot be understood
│   ├── UnclearColumnsError  columns that may be models, or may not: the user has to say
│   └── UnknownOptionError   an option that an algorithm does not take
├── RoundError       a label for a round that has no open query
├── StateError       a saved state that does not belong here
├── NotFoundError    a file, a collection, a campaign or a round that does not exist
├── ConflictError    something is there already that must not be overwritten
├── AccessError      a server that does not let one in, or not do that
├── FileError        a file that cannot be read or written: permissions, a full disk
├── MissingExtraError  something that `pip install modelpicker` leaves out: the server, figures, ...
├── UntestedVersionError  a library whose internals are used, in a version that was not tested
└── StorageError     a storage that cannot be reached, read or written; nothing acknowledged is lost
    └── SchemaError  a storage made by another version of modelpicker

Every message names the value at fault and says what to do next. Messages are for people: what a program needs to
know about an error is its type and its attributes, and nothing decides anything by the wording of a message.
"""

from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import PurePath
from typing import Any, ClassVar


def brief(value: object) -> str:
    """A value as an error shows it: short, whatever it is."""
    try:
        text = repr(str(value) if isinstance(value, PurePath) else value)
    except Exception:  # a number of more digits than Python prints, an object whose repr fails
        text = f"of type {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def is_number(value: object) -> bool:
    """Whether a value is a real number; true and false are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


class ModelPickerError(Exception):
    """The base of every error that modelpicker raises on purpose.

    >>> import modelpicker as mp
    >>> try:
    ...     mp.load_collection("nowhere.csv")
    ... except mp.ModelPickerError as error:
    ...     print(type(error).__name__)
    NotFoundError
    """

    exit_code: ClassVar[int] = 1
    """What the command line exits with."""


class InputError(ModelPickerError, ValueError):
    """Predictions, labels or options that are not valid; a file that cannot be understood.

    Args:
        message: what is wrong, and what to do.
        parameter: the option or the field that it is about, if it is about one.
        reveals: a sentence that says something of the models' predictions, which not everybody may know.

    >>> import modelpicker as mp
    >>> try:
    ...     mp.PoolPicker([["a", "b"]], tolerance=-1)
    ... except mp.InputError as error:
    ...     print(error.parameter)
    gap
    """

    def __init__(self, message: str = "", *, parameter: str | None = None, reveals: str = "") -> None:
        super().__init__(f"{message} {reveals}" if reveals else message)
        self.parameter = parameter
        self.discreet = message
        """The message without what it reveals."""


class UnknownOptionError(InputError):
    """An option that an algorithm does not take.

    >>> import modelpicker as mp
    >>> try:
    ...     mp.create_campaign("memory://unknown", "tickets", models=2, options={"speed": 9})
    ... except mp.UnknownOptionError as error:
    ...     print(type(error).__name__)
    UnknownOptionError
    """


class UnclearColumnsError(InputError):
    """Columns that may be models, or may not: the user has to say.

    >>> import modelpicker as mp
    >>> issubclass(mp.UnclearColumnsError, mp.InputError)
    True
    """

    def __init__(self, message: str, columns: Sequence[Mapping[str, str]]) -> None:
        super().__init__(message)
        self.columns = tuple(dict(column) for column in columns)
        """Each with its `name`, the `role` that it seems to have, and the `doubt`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.columns)


class RoundError(ModelPickerError, LookupError):
    """A label for a round that has no open query.

    >>> import modelpicker as mp
    >>> picker = mp.ModelPicker(["small", "large"])
    >>> try:
    ...     picker.learn(7, "dog")
    ... except mp.RoundError as error:
    ...     print(error)
    round 7 is unknown: 0 rounds have been observed, from 0 on.
    """


class StateError(ModelPickerError, ValueError):
    """A saved state of another algorithm, another version, or no state at all.

    >>> import modelpicker as mp
    >>> try:
    ...     mp.ModelPicker.from_state_dict({})
    ... except mp.StateError as error:
    ...     print(type(error).__name__)
    StateError
    """


class NotFoundError(ModelPickerError, LookupError):
    """A file, a collection, a campaign or a round that does not exist.

    >>> import modelpicker as mp
    >>> try:
    ...     mp.open_campaign("memory://nothing", "tickets")
    ... except mp.NotFoundError as error:
    ...     print(error)
    there is no campaign 'tickets' in memory://nothing; there is none yet.
    """

    exit_code = 3


class ConflictError(ModelPickerError):
    """Something is there already that must not be overwritten.

    Args:
        message: what is there, and what to do.
        discreet: the same without what other people said, which not everybody may know.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://conflict", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> try:
    ...     mp.create_campaign("memory://conflict", "tickets", models=2)
    ... except mp.ConflictError as error:
    ...     print(error)
    there already is a campaign 'tickets'; open that one, or choose another name.
    """

    exit_code = 4

    def __init__(self, message: str = "", *, discreet: str = "") -> None:
        super().__init__(message)
        self.discreet = discreet or message


class AccessError(ModelPickerError):
    """A token that is missing or wrong, or that does not allow what was asked.

    >>> import modelpicker as mp
    >>> issubclass(mp.AccessError, mp.ModelPickerError)
    True
    """


class FileError(ModelPickerError):
    """A file that cannot be read or written: permissions, a full disk.

    >>> import modelpicker as mp
    >>> issubclass(mp.FileError, mp.ModelPickerError)
    True
    """


class MissingExtraError(ModelPickerError, ImportError):
    """Something that `pip install modelpicker` leaves out; the message says how to install it.

    >>> import modelpicker as mp
    >>> issubclass(mp.MissingExtraError, mp.ModelPickerError)
    True
    """

    def __init__(self, message: str = "", *, extra: str = "") -> None:
        super().__init__(message)
        self.extra = extra
        """The name of what to install, such as "server"."""


class UntestedVersionError(ModelPickerError, ImportError):
    """A library whose internals are used, in a version that was not tested; the message says which to install.

    >>> import modelpicker as mp
    >>> issubclass(mp.UntestedVersionError, mp.ModelPickerError)
    True
    """


class StorageError(ModelPickerError):
    """A storage that cannot be reached, read or written; nothing that was acknowledged is lost.

    >>> import modelpicker as mp
    >>> issubclass(mp.SchemaError, mp.StorageError)
    True
    """


class SchemaError(StorageError):
    """A storage made by another version of modelpicker.

    >>> import modelpicker as mp
    >>> issubclass(mp.SchemaError, mp.ModelPickerError)
    True
    """

    exit_code = 5
