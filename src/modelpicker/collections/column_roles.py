"""What each column of a table is for: said by the user, plain from its name, or guessed and to be confirmed."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, cast, get_args

from modelpicker.collections.column_doubts import find_doubts
from modelpicker.collections.column_name_hints import IDENTITIES, LABEL, NOT_MODELS, ROW_NUMBERS
from modelpicker.collections.column_profiles import profile_columns
from modelpicker.collections.spelling import EXACT, check_same
from modelpicker.collections.tables import Table, quoted
from modelpicker.encoding import ClassName, Missing, check_missing
from modelpicker.errors import InputError, UnclearColumnsError, brief

Role: TypeAlias = Literal["model", "shown", "id", "label", "left out"]
ROLES: tuple[Role, ...] = get_args(Role)
# Columns in doubt that an error names, each with the reason.
MOST_NAMED = 4


@dataclass(frozen=True)
class Column:
    """A column, and what it is for."""

    name: str
    role: Role
    """The guess, or what the user said."""
    doubt: str = ""
    """Empty where the role is certain; else one plain sentence why a person should confirm it."""

    def document(self) -> dict[str, str]:
        """The column for programs."""
        return {"name": self.name, "role": self.role, "doubt": self.doubt}


@dataclass(frozen=True)
class Reading:
    """How a table should be read, where that is not plain from the table itself."""

    models: Sequence[str] | None = None
    """All models; every other column is none."""
    fields: Sequence[str] = ()
    classes: Sequence[ClassName] | None = None
    normalise: bool = False
    text: bool = False
    label: str | None = None
    id: str | None = None
    ignore: Sequence[str] = ()
    columns: Mapping[str, Role] = field(default_factory=dict)
    """The roles of some columns; what is not named here is guessed as ever."""
    same: Any = EXACT
    """What counts as the same answer, as `merge_answers` has it."""
    missing: Missing = "abstained"
    """What a prediction that is missing stands for."""
    task: str | None = None
    """For the results of an evaluation tool: the task, or a pattern such as "mmlu*"."""
    labels_elsewhere: bool = False
    """Whether labels come from elsewhere: then those of the table itself are not read, and cannot be wrong."""
    same_later: bool = False
    """Whether it is decided later which answers are the same, as a campaign does."""

    def __post_init__(self) -> None:
        for name in ("models", "fields", "classes", "ignore"):
            listed = getattr(self, name)
            if isinstance(listed, str):
                raise InputError(f"{name} {brief(listed)}: pass a list of names.")
            if name in ("fields", "ignore"):
                object.__setattr__(self, name, tuple(listed))
        object.__setattr__(self, "same", check_same(self.same))
        check_missing(self.missing)

    @property
    def free(self) -> bool:
        """Whether answers are free text, of which several may count as the same."""
        return not (isinstance(self.same, str) and self.same == EXACT)

    @property
    def compares_labels(self) -> bool:
        """Whether labels should be classes that models say: not before it is known which answers are the same."""
        return not (self.free or self.same_later)

    @property
    def as_text(self) -> bool:
        """Whether all answers are taken for strings: also numbers that have a tolerance."""
        return self.text or isinstance(self.same, float | int)

    def document(self) -> dict[str, Any]:
        """What was said, as JSON can hold it, and as `load_collection` takes it."""
        own = ("labels_elsewhere", "same_later")
        found = {part.name: getattr(self, part.name) for part in fields(self) if part.name not in own}
        return {
            name: list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
            for name, value in found.items()
            if value
            and not (name == "same" and (callable(value) or value == EXACT))
            and not (name == "missing" and value == "abstained")
        }

    def said(self) -> dict[str, Role]:
        """The roles that the user gave, by column; an error if a column was given two."""
        roles: dict[str, Role] = {}
        for name, role in self._pairs():
            if roles.setdefault(name, role) != role:
                raise InputError(
                    f"column {quoted(name)} cannot be both {_called(roles[name])} and {_called(role)}; choose."
                )
        for role in ("id", "label"):
            named = [name for name, given in roles.items() if given == role]
            if len(named) > 1:
                listed = " and ".join(map(quoted, named[:3]))
                raise InputError(f"columns {listed} cannot both be {_called(role)}; choose one.")
        return roles

    def _pairs(self) -> Iterator[tuple[str, Role]]:
        yield from ((name, "model") for name in self.models or ())
        yield from ((name, "shown") for name in self.fields)
        yield from ((name, "left out") for name in self.ignore)
        yield from ((name, "label") for name in (self.label,) if name is not None)
        yield from ((name, "id") for name in (self.id,) if name is not None)
        for name, role in self.columns.items():
            if role not in ROLES:
                raise InputError(f"column {quoted(name)}: {brief(role)} is not a role; use {', '.join(ROLES)}.")
            yield name, role


def _called(role: Role) -> str:
    """A role as messages name it."""
    names = {"model": "a model", "shown": "an item field", "id": "the id", "label": "the label"}
    return names.get(role, role)


def check_columns(table: Table, names: Sequence[str]) -> None:
    """Columns that are asked for must be there."""
    for name in names:
        if name not in table.columns:
            listed = ", ".join(table.columns[:12]) + (", …" if len(table.columns) > 12 else "")
            raise InputError(f"{table.path} has no column {quoted(name)}; it has {listed}.")


def guess_columns(table: Table, reading: Reading | None = None) -> tuple[Column, ...]:
    """What each column is for, in the order of the table.

    What the user said and what is documented is certain: the columns `label`, `id`, `key`, `item`, `text`, `image`,
    `url`, and row numbers that a data frame wrote. Any other column is a model, unless it stands out.
    """
    reading = reading or Reading()
    said = reading.said()
    check_columns(table, list(said))
    _check_named(table)
    known = _certain(table, said)
    if reading.models is not None:
        known |= {name: Column(name, "shown") for name in table.columns if name not in known}
    open_names = [name for name in table.columns if name not in known]
    labels = [name for name, column in known.items() if column.role == "label"]
    label = labels[0] if labels and not reading.labels_elsewhere else None
    profiles = profile_columns(table, [*open_names, *([label] if label and open_names else [])])
    classes = (*(reading.classes or ()), *table.metadata.get("classes", ()))
    doubts = find_doubts([profiles[name] for name in open_names], profiles.get(label or ""), classes)
    for name in open_names:
        doubt = doubts.get(name)
        known[name] = Column(name, "model") if doubt is None else Column(name, cast("Role", doubt.role), doubt.why)
    return tuple(known[name] for name in table.columns)


def _certain(table: Table, said: Mapping[str, Role]) -> dict[str, Column]:
    """The columns whose role is said by the user, by the file itself, or by a documented name."""
    known = {name: Column(name, role) for name, role in said.items()}
    taken = set(said.values())
    for name in table.metadata.get("models", ()):
        if name in table.columns:
            known.setdefault(name, Column(name, "model"))
    rest = [name for name in table.columns if name not in known]
    known |= {name: Column(name, "left out") for name in rest if _is_row_numbers(table, name)}
    labels = [name for name in rest if name.lower() == LABEL and "label" not in taken]
    twice = "" if len(labels) < 2 else f"There are {len(labels)} columns called {LABEL}."
    for place, name in enumerate(labels):
        known[name] = Column(name, "left out" if place else "label", twice)
    identity = None if "id" in taken else _identity(name for name in rest if name not in known)
    fields = set(table.metadata.get("fields", ()))
    for name in rest:
        if name not in known and (name in fields or name.lower() in (LABEL, *NOT_MODELS)):
            known[name] = Column(name, "id" if name == identity else "shown")
    return known


def _identity(names: Iterator[str]) -> str | None:
    """The column that tells items apart by its name."""
    lower = {name.lower(): name for name in names}
    return next((lower[name] for name in IDENTITIES if name in lower), None)


def _is_row_numbers(table: Table, name: str) -> bool:
    """Whether a column is what data frames write beside their cells."""
    return name == ROW_NUMBERS[-1] or (name in ROW_NUMBERS and name == table.columns[0])


def _check_named(table: Table) -> None:
    """A column without a name is an error, unless it is the first: row numbers that a data frame wrote."""
    if "" in table.columns[1:]:
        place = table.columns.index("", 1) + 1
        raise InputError(f"{table.path}: column {place} has no name; name it, or drop it.")


def refuse_unclear(table: Table, columns: Sequence[Column]) -> None:
    """An error that names the columns in doubt, and what decides."""
    unclear = [column for column in columns if column.doubt]
    if not unclear:
        return
    reasons = " Column ".join(f"{quoted(column.name)}: {column.doubt}" for column in unclear[:MOST_NAMED])
    more = f" (And {len(unclear) - MOST_NAMED:,} more.)" if len(unclear) > MOST_NAMED else ""
    models = [column.name for column in columns if column.role == "model"]
    said = options_of({column.name: column.role for column in unclear}, models)
    written = ", ".join(f"{option}={brief(value)}" for option, value in said.items())
    what = "it is" if len(unclear) == 1 else "they are"
    raise UnclearColumnsError(
        f"{table.path}, column {reasons}{more} Say what {what}, for example {as_typed(said)} "
        f"(in Python: mp.load_collection(…, {written})). Or list all models with --models (models=).",
        [column.document() for column in unclear],
    )


def options_of(roles: Mapping[str, Role], models: Sequence[str]) -> dict[str, str | list[str]]:
    """The options that say the roles of some columns; that one is a model is said by naming all models."""
    said: dict[str, str | list[str]] = {}
    for option, wanted in (("fields", "shown"), ("ignore", "left out"), ("id", "id"), ("label", "label")):
        names = [name for name, role in roles.items() if role == wanted]
        if names:
            said[option] = names[0] if option in ("id", "label") else names
    return said | ({"models": [*models]} if "model" in roles.values() else {})


def as_typed(said: Mapping[str, str | Sequence[str]]) -> str:
    """Options as they are typed on the command line."""
    pairs = [(f"--{name}", value if isinstance(value, str) else ",".join(value)) for name, value in said.items()]
    return shlex.join(part for pair in pairs for part in pair)
