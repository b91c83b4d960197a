"""What the processes of a home are told: every setting, but no secret."""

import os
from collections.abc import Mapping
from dataclasses import fields

from weft.settings import Settings

SECRET = frozenset({"database", "token"})
"""Settings that do not belong where `ps` may show them: roles read the files of the home."""

_FOR_CLIENTS = frozenset({"url"})


def role_environment(
    settings: Settings, environ: Mapping[str, str] | None = None, **changes: str
) -> dict[str, str]:
    """Return the environment of a role: ours, with this process's settings as `WEFT_<NAME>`.

    So flags and files of `weft up` hold for its roles too. `changes`: settings that differ.
    """
    environ = os.environ if environ is None else environ
    result = {name: value for name, value in environ.items() if not _is_setting(name)}
    for one in fields(Settings):
        value = getattr(settings, one.name)
        if value is not None and one.name not in SECRET | _FOR_CLIENTS:
            result[f"WEFT_{one.name.upper()}"] = (
                str(value).lower() if value is True or value is False else str(value)
            )
    return result | {f"WEFT_{name.upper()}": value for name, value in changes.items()}


def _is_setting(variable: str) -> bool:
    return variable.startswith("WEFT_") and variable[5:].lower() in _NAMES


_NAMES = frozenset(one.name for one in fields(Settings))
