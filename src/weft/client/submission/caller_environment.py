"""The environment that jobs get from the program that submits them."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from weft.core.access.secret_variables import matches, patterns_of
from weft.core.text.texts import is_utf8
from weft.settings import load_client_settings, secret_variables


class CallerEnvironment(NamedTuple):
    """Variables of this process for jobs."""

    variables: dict[str, str]
    not_utf8: list[str]
    """Names of those that cannot be sent."""


def caller_environment(
    *, home: Path | None, left_out: Sequence[str] = ()
) -> CallerEnvironment | None:
    """Return it without weft's own secrets and what `left_out` and the setting `no_env` match.
    None: the setting `clean_env` keeps it here.
    """
    settings = load_client_settings({"home": home})
    if settings.clean_env:
        return None
    own = secret_variables(os.environ)
    patterns = tuple(p for text in (settings.no_env, *left_out) for p in patterns_of(text))
    whole = {
        name: value
        for name, value in os.environ.items()
        if name not in own and not matches(name, patterns)
    }
    sound = {name: value for name, value in whole.items() if is_utf8(name) and is_utf8(value)}
    return CallerEnvironment(sound, sorted(whole.keys() - sound.keys()))
