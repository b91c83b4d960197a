"""The environment that a job of `weft run` or `weft each` gets from its caller."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.cli.input.text import check_text, is_utf8
from weft.cli.terminal.report import note
from weft.core.access.secret_variables import matches, patterns_of
from weft.core.errors import Invalid
from weft.settings import load_settings, secret_variables


def inherited_environment(
    *, home: Path | None, clean: bool, left_out: Sequence[str]
) -> Mapping[str, Any]:  # fields of documents have several types
    """Return the field `inherit_env` of a request; none if the caller's environment stays here.

    weft's own secrets, what `left_out` and the setting `no_env` match and what is not UTF-8 are
    left out.
    """
    settings = load_settings({"home": home})
    if clean or settings.clean_env:
        return {}
    own = secret_variables()
    patterns = tuple(p for text in (settings.no_env, *left_out) for p in patterns_of(text))
    whole = {
        name: value
        for name, value in os.environ.items()
        if name not in own and not matches(name, patterns)
    }
    sound = {name: value for name, value in whole.items() if is_utf8(name) and is_utf8(value)}
    if len(sound) < len(whole):
        names = ", ".join(repr(name) for name in whole.keys() - sound.keys())
        note(f"left out of the job's environment (not valid UTF-8): {names}")
    return {"inherit_env": sound}


def given_variable(text: str) -> tuple[str, str]:
    """Return what `--env NAME=VALUE` or `--env NAME` sets; the latter has the caller's value."""
    name, equals, value = text.partition("=")
    if not name:
        raise Invalid(
            f"{text!r} is not a variable", hint="Write it as --env NAME=VALUE or --env NAME."
        )
    if not equals:
        if name not in os.environ:
            raise Invalid(
                f"there is no variable {name} to pass on",
                detail="`--env NAME` passes on a variable of this shell.",
                hint=f"Export it, or write --env {name}=VALUE.",
            )
        value = os.environ[name]
    check_text([name, value])
    return name, value
