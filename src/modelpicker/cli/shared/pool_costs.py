"""What mistakes and models cost, as it is typed: JSON, or a file that has it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from modelpicker.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable


def typed_costs(loss: str | None, price: str | None, label_noise: float) -> dict[str, Any]:
    """The loss, the prices and the noise that were typed; what is not valid is wrong usage."""
    from modelpicker.campaigns.pool_costs import loss_from_text, price_from_text

    return {
        "loss": _read("--loss", loss, loss_from_text),
        "price": _read("--price", price, price_from_text),
        "label_noise": label_noise,
    }


def _read(option: str, typed: str | None, parse: "Callable[[str], object]") -> object:
    if typed is None:
        return None
    try:
        return parse(_content(typed))
    except OSError as error:
        raise typer.BadParameter(f"{typed} cannot be read: {error.strerror}.", param_hint=option) from None
    except (InputError, UnicodeDecodeError) as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _content(typed: str) -> str:
    """The text of a file, if one is named; or what was typed."""
    if not typed.lower().endswith(".json"):
        return typed
    return Path(typed).read_text("utf-8")
