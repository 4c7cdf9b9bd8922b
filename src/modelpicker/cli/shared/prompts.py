"""Questions to a person at the terminal: one item, one key."""

import base64
import struct
import sys
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from modelpicker.cli.shared.terminal import WIDTH, is_number, say, visible
from modelpicker.errors import brief

if TYPE_CHECKING:
    from modelpicker.collections.same_answers import SameAnswers

SKIP, UNDO, STOP, QUIT, HELP = "skip", "undo", "may I stop", "quit", "help"
COMMANDS = {"s": SKIP, "u": UNDO, "m": STOP, "q": QUIT, "?": HELP}
# Classes that get a key each that stays the same for all items.
MOST_KEYS = 30
LETTERS = [letter for letter in "123456789abcdefghijklmnopqrstuvwxyz" if letter not in COMMANDS]
LONGEST_FIELD = 1200
LONGEST_LINE = 2**14
SHADES = " ░▒▓█"
LARGEST_PICTURE = 40
ADDING = " +NAME adds a class that no model has named."


class Reply(NamedTuple):
    """A class, by its place in the list of classes, or a command."""

    command: str | None = None
    label: int | None = None


class Keys:
    """Which key stands for which class."""

    def __init__(
        self, classes: Sequence[int | str], *, closed: bool = False, rule: "SameAnswers | None" = None
    ) -> None:
        self.classes = list(classes)
        self.rule = rule
        """What counts as the same answer, if not only equal text does."""
        self.closed = closed
        """Whether no other class may be added."""
        self.place_of = {str(name): place for place, name in enumerate(classes)}

    def of(self, said: Sequence[int]) -> dict[str, int]:
        """The keys for an item: all classes if they are few, else those that models suggest."""
        few = len(self.classes) <= MOST_KEYS
        offered = range(len(self.classes)) if few else sorted(said, key=lambda place: str(self.classes[place]))
        names = [str(self.classes[place]) for place in offered]
        if all(
            len(name) <= 2 or isinstance(self.classes[place], int)
            for name, place in zip(names, offered, strict=True)
        ):
            return dict(zip(names, offered, strict=True))
        free = [letter for letter in LETTERS if letter not in self.place_of]
        return dict(zip(free, offered, strict=False))

    def read(self, text: str, offered: Mapping[str, int]) -> Reply | None:
        """What an answer stands for: a class by its name or its key, or a command; None for nothing known."""
        if text in self.place_of:
            return Reply(label=self.place_of[text])
        if text in offered:
            return Reply(label=offered[text])
        if text.lstrip(":") in COMMANDS:
            return Reply(command=COMMANDS[text.lstrip(":")])
        return self._same(text, offered) or self.alike(text)

    def _same(self, text: str, offered: Mapping[str, int]) -> Reply | None:
        """The class that counts as the same answer: one that models suggest, else any; None if there is none."""
        if self.rule is None or self.rule.plain:
            return None
        for classes in ([self.classes[place] for place in offered.values()], self.classes):
            place = self.place_of.get(str(self.rule.find(text, classes)))
            if place is not None:
                return Reply(label=place)
        return None

    def alike(self, text: str) -> Reply | None:
        """The one class with this name, upper and lower case aside; None if there is none, or there are several."""
        if text in self.place_of:
            return Reply(label=self.place_of[text])
        found = [place for name, place in self.place_of.items() if name.casefold() == text.casefold()]
        return Reply(label=found[0]) if len(found) == 1 else None

    def add(self, name: str) -> Reply | None:
        """A class that no model has said yet; None if it is not of the kind of the others, or none may be added."""
        if self.closed and name not in self.place_of:
            return None
        numbers = bool(self.classes) and isinstance(self.classes[0], int)
        if numbers:
            if not is_number(name):
                return None
            name = str(int(name))
        if name in self.place_of:
            return Reply(label=self.place_of[name])
        self.place_of[name] = len(self.classes)
        self.classes.append(int(name) if numbers else name)
        return Reply(label=self.place_of[name])

    def command(self, key: str) -> str:
        """How a command is typed: with a colon, if a class is called so."""
        while key in self.place_of:
            key = f":{key}"
        return key


def ask(head: str, fields: Mapping[str, Any], keys: Keys, said: Sequence[int]) -> Reply:
    """Ask for the label of one item until the answer makes sense; the end of the input means to quit."""
    offered = keys.of(said)
    say("", head, *shown(fields), *_offer(offered, keys))
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        text = read_line()
        if text is None:
            say("")
            return Reply(command=QUIT)
        if not text:
            continue
        answer = keys.read(text, offered)
        if answer is None and text.startswith("+") and text[1:].strip():
            name = text[1:].strip()
            answer = keys.alike(name) or keys.add(name)
        if answer is None:
            more = "." if keys.closed else "; +NAME adds one."
            say(f"{brief(text)} is not a class and no key. {keys.command('?')} lists the classes{more}")
        elif answer.command == HELP:
            say(*_help(offered, keys))
        else:
            return answer


def read_line() -> str | None:
    """A line that was typed, whatever bytes it is made of; None at the end of the input."""
    line = b"" if sys.stdin is None else sys.stdin.buffer.readline(LONGEST_LINE)
    if not line:
        return None
    while not line.endswith(b"\n") and (more := sys.stdin.buffer.readline(LONGEST_LINE)):
        line = line[:LONGEST_LINE] + more[-1:]  # the rest of a line that is too long is dropped
    return line.decode("utf-8", "replace").strip()


def _help(offered: Mapping[str, int], keys: Keys) -> list[str]:
    """Everything that can be typed."""
    key_of = {place: key for key, place in offered.items()}
    known = [
        f"{key_of[place]} {name}" if key_of.get(place, str(name)) != str(name) else str(name)
        for place, name in enumerate(keys.classes)
    ]
    return [
        visible(f"classes: {', '.join(known)}"),
        f"Type a key or the name of a class, then Enter.{'' if keys.closed else ADDING}",
        f"{keys.command('s')} skips the item: nobody can tell. {keys.command('u')} goes back to your last answer.",
        f"{keys.command('m')} says how the models stand, and whether you may stop.",
        f"{keys.command('q')} quits; run the same command to continue. Every answer is saved at once.",
    ]


def _offer(offered: Mapping[str, int], keys: Keys) -> list[str]:
    """The keys, as many to a line as fit."""
    plain = all(str(keys.classes[place]) == key for key, place in offered.items())
    entries = [visible(key if plain else f"{key} {keys.classes[place]}") for key, place in offered.items()]
    if len(offered) < len(keys.classes):
        entries.append("or the name of another class")
    lines, line = [], "label:"
    for entry in entries:
        if len(line) + len(entry) + 3 > WIDTH:
            lines.append(line)
            line = "      "
        line += f"  {entry}"
    commands = "   ".join(f"{keys.command(key)} {what}" for key, what in COMMANDS.items())
    return [*lines, line, f"       {commands}"]


def shown(fields: Mapping[str, Any]) -> list[str]:
    """The fields of an item, a line each, long ones cut; a small picture is drawn."""
    lines = []
    for name, value in fields.items():
        picture = draw(value) if isinstance(value, str) and value.startswith("data:image/png;base64,") else None
        if picture is not None:
            lines += [f"  {visible(name)}:", *(f"    {row}" for row in picture)]
        elif value is not None:
            lines += wrapped(str(name), str(value))
    return lines


def wrapped(name: str, value: str) -> list[str]:
    """A field as lines of whole words; a very long one is cut."""
    text = visible(" ".join(value.split()))
    if text.startswith("data:"):
        text = "(a picture)"
    if len(text) > LONGEST_FIELD:
        text = f"{text[:LONGEST_FIELD]}… ({len(text) - LONGEST_FIELD:,} more characters)"
    return textwrap.wrap(f"{visible(name)}: {text}", WIDTH - 2, initial_indent="  ", subsequent_indent="    ")


def draw(uri: str) -> list[str] | None:
    """A small grey picture in block characters; None for any other."""
    try:
        content = base64.b64decode(uri.partition(",")[2], validate=True)
        width, height, depth, colours = struct.unpack(">IIBB", content[16:26])
        if (depth, colours) != (8, 0) or not 0 < width <= LARGEST_PICTURE or not 0 < height <= LARGEST_PICTURE:
            return None
        start = content.index(b"IDAT")
        (size,) = struct.unpack(">I", content[start - 4 : start])
        unpack = zlib.decompressobj()
        pixels = unpack.decompress(content[start + 4 : start + 4 + size], (width + 1) * height)
        rows = [pixels[place * (width + 1) : (place + 1) * (width + 1)] for place in range(height)]
    except (ValueError, struct.error, zlib.error):
        return None
    if any(len(row) <= width or row[0] != 0 for row in rows):
        return None
    return ["".join(2 * SHADES[(255 - grey) * (len(SHADES) - 1) // 255] for grey in row[1:]) for row in rows]
