"""Everything that can go wrong, drawn as a tree.

ModelPickerError
├── InputError    predictions, labels or options that make no sense
├── RoundError    a label for a round that has no open query
└── StateError    a saved state that does not belong here

Every message names the value at fault and says what to do next.
"""


def brief(value: object) -> str:
    """A value as an error shows it: short, whatever it is."""
    try:
        text = repr(value)
    except Exception:  # a number of more digits than Python prints, an object whose repr fails
        text = f"of type {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


class ModelPickerError(Exception):
    """The base of every error that modelpicker raises on purpose."""


class InputError(ModelPickerError, ValueError):
    """Predictions, labels or options that make no sense."""


class RoundError(ModelPickerError, LookupError):
    """A label for a round that has no open query."""


class StateError(ModelPickerError, ValueError):
    """A saved state of another algorithm, another version, or no state at all."""
