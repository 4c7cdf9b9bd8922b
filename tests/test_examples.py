"""Every public name shows how it is used: its docstring has an example, which the tests run."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import modelpicker as mp

NAMES = sorted(name for name in mp.__all__ if callable(getattr(mp, name)))
# Classes whose methods users call. The methods of `RemoteCampaign` are those of `Campaign`.
CLASSES: tuple[Any, ...] = (
    mp.Certificate,
    mp.Label,
    mp.Loss,
    mp.ModelCollection,
    mp.ModelPicker,
    mp.Pick,
    mp.PoolPicker,
    mp.PoolTrace,
    mp.Race,
    mp.Results,
    mp.Trace,
    mp.Campaign,
)
# Methods that other parts of the library call, and users need not know.
INTERNAL = {
    mp.Campaign: "as_stored ask_item best_at deciding distant exclusive forget grouped in_group keep_items "
    "known_models learn looking own_notes reading reading_state records stored stored_counts together told_classes "
    "warm_up writing",
    mp.ModelPicker: "all_or_nothing check_state coins counted damaged in_use keep losses_over next_coins proof "
    "rows_in_use settings start take_in tally upgraded",
    mp.PoolPicker: "contested_part",
    mp.ModelCollection: "of_codes with_measured",
    mp.Pick: "with_advice",
    mp.Label: "coded",
    mp.Loss: "check_classes coded reach scores spelt_as",
}
INTERNAL[mp.Race] = INTERNAL[mp.ModelPicker]


def methods() -> Iterator[tuple[str, str]]:
    """Every method that users call, by the names of its class and its own."""
    for kind in CLASSES:
        for name, _ in inspect.getmembers(kind, lambda found: inspect.isfunction(found) or inspect.ismethod(found)):
            if not name.startswith("_") and name not in INTERNAL.get(kind, "").split():
                yield kind.__name__, name


def has_example(found: object) -> bool:
    return ">>> " in (inspect.getdoc(found) or "")


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example(name: str) -> None:
    assert has_example(getattr(mp, name)), f"add an example (>>> …) to the docstring of {name}"


@pytest.mark.parametrize(("kind", "name"), list(methods()))
def test_every_method_that_users_call_has_an_example(kind: str, name: str) -> None:
    assert has_example(getattr(getattr(mp, kind), name)), f"add an example (>>> …) to {kind}.{name}"


def test_methods_that_are_left_out_exist() -> None:
    for kind, names in INTERNAL.items():
        assert [name for name in names.split() if not hasattr(kind, name)] == []
