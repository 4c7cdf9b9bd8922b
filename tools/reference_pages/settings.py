"""Every setting: of the server, with its variable and its name in the file; and of campaigns."""

from collections.abc import Iterator
from dataclasses import fields

from modelpicker.campaigns.setting_options import SETTINGS
from modelpicker.options import REQUIRED, Option, spelt
from modelpicker.server.configuration import Configuration
from tools.reference_pages.commands import verbs
from tools.reference_pages.markdown import code, table

DEFAULTS = {field.name: field.default for field in fields(Configuration)}
IN_FILE_ONLY = {
    "largest_body": "The largest request, in bytes, also after it is unpacked.",
    "largest_file": "The largest file that may be sent, in bytes.",
}


def server_settings() -> Iterator[tuple[str, str, str, str]]:
    """Each setting of `modelpicker serve`: its name in the file, its variable, its option, and what it does."""
    ((_, command, context),) = (found for found in verbs() if found[0] == "modelpicker serve")
    for parameter in command.get_params(context):
        variable = getattr(parameter, "envvar", None)
        if variable and parameter.name != "storage":  # it stands above [serve]
            name, text = parameter.get_help_record(context)
            yield parameter.name, variable, name.split(" ")[0].rstrip(","), text.partition("  [")[0]


def server_table() -> str:
    """The settings of the server."""
    rows = [(code(name), code(variable), code(option), text) for name, variable, option, text in server_settings()]
    rows += [(code(name), "", "", f"{text} Default: {DEFAULTS[name]}.") for name, text in IN_FILE_ONLY.items()]
    return table(("in `modelpicker.toml`", "variable", "option", "what it does"), rows)


def campaign_table() -> str:
    """The settings of campaigns."""
    return table(
        ("setting", "default", "range", "what it does"),
        ((code(one.name), _default(one.default), _range(one), one.help) for one in SETTINGS),
    )


def _default(value: object) -> str:
    """A default, as a table shows it."""
    return "none" if value is None else "needed" if value is REQUIRED else spelt(value)


def _range(setting: Option) -> str:
    """Which values are allowed, where that is more than the type says."""
    return setting.range if setting.choices or setting.wanted or setting.type in (int, float) else ""
