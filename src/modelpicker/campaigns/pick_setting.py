"""Whether a source is a pool or a stream."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from modelpicker.errors import InputError, brief

Setting: TypeAlias = Literal["pool", "stream"]
SETTINGS: tuple[Setting, ...] = ("pool", "stream")


def choose_setting(setting: object, stream_only: Mapping[str, bool]) -> Setting:
    """Whether a source is a pool or a stream: a pool, unless something was said that only a stream has.

    Args:
        setting: what was said; None for nothing.
        stream_only: the options that only a stream has, by name, and whether each was given.
    """
    if setting is not None and setting not in SETTINGS:
        raise InputError(f"setting {brief(setting)}: pass 'pool' or 'stream'.", parameter="setting")
    given = [name for name, said in stream_only.items() if said]
    if setting == "pool" and given:
        raise InputError(
            f"{given[0]} is for a stream, but a pool was asked for; leave one of them out.",
            parameter=given[0],
        )
    return "stream" if setting == "stream" or given else "pool"
