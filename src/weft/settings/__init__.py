"""Every setting of weft, once: name, type, default, limits and one sentence.

Each role has a file with its section; a plug-in brings a section of its own, named by an entry
point of the group `weft.settings`. A new setting is one entry in one of these files.

Precedence: command line > `WEFT_<NAME>` in the environment > `weft.toml` in the home > default.
`weft config` prints each value with where it came from. Must not read anything but these four.

`Settings`, those of all roles, is loaded when it is first used: a command of the shell needs only
those of a client.
"""

from typing import TYPE_CHECKING

from weft.settings.declare import (
    Bytes,
    Checked,
    Declared,
    InvalidSetting,
    LargeBytes,
    declared_in,
    setting,
)
from weft.settings.load import (
    FILE_NAME,
    SettingValue,
    all_declared,
    default_home,
    explain_settings,
    home_of,
    how_to_set,
    is_said,
    load_client_settings,
    load_settings,
    misspelt_variables,
    outer_environment,
    secret_variables,
    sql_settings,
    values_of,
    variable_of,
)
from weft.settings.shown import shown_value

if TYPE_CHECKING:
    from weft.settings.settings import Settings

__all__ = [
    "FILE_NAME",
    "Bytes",
    "Checked",
    "Declared",
    "InvalidSetting",
    "LargeBytes",
    "SettingValue",
    "Settings",
    "all_declared",
    "declared_in",
    "default_home",
    "explain_settings",
    "home_of",
    "how_to_set",
    "is_said",
    "load_client_settings",
    "load_settings",
    "misspelt_variables",
    "outer_environment",
    "secret_variables",
    "setting",
    "shown_value",
    "sql_settings",
    "values_of",
    "variable_of",
]


def __getattr__(name: str) -> object:
    if name != "Settings":
        raise AttributeError(f"module 'weft.settings' has no attribute {name!r}")
    from weft.settings.settings import Settings  # noqa: PLC0415 (35 ms)

    return Settings
