"""Names of campaigns, and of whoever has a token."""

import re

from modelpicker.errors import InputError, brief

NAME = re.compile(r"[^\W_][\w .-]{0,99}")


def check_name(name: object) -> None:
    """Refuse a name that files, pages and terminals could stumble over."""
    if not isinstance(name, str) or not NAME.fullmatch(name) or name != name.strip():
        raise InputError(
            f"campaign name {brief(name)}: pass up to 100 letters, digits, spaces, points, dashes and underlines, "
            "beginning with a letter or a digit."
        )
