"""The environment that a job of `weft run` or `weft each` gets from its caller."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.cli.input.values import check_text
from weft.cli.terminal.report import note
from weft.client.submission.caller_environment import caller_environment
from weft.core.errors import Invalid


def inherited_environment(
    *, home: Path | None, clean: bool, left_out: Sequence[str]
) -> Mapping[str, Any]:  # fields of documents have several types
    """Return the field `inherit_env` of a request; none if the caller's environment stays here.

    weft's own secrets, what `left_out` and the setting `no_env` match and what is not UTF-8 are
    left out.
    """
    found = None if clean else caller_environment(home=home, left_out=left_out)
    if found is None:
        return {}
    if found.not_utf8:
        names = ", ".join(map(repr, found.not_utf8))
        note(f"left out of the job's environment (not valid UTF-8): {names}")
    return {"inherit_env": found.variables}


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
