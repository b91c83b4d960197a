"""Options that say when a job may run, for commands that make jobs."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from cyclopts import Parameter

from weft.cli.input.values import read_option
from weft.core.durations import parse_seconds

_CHARS_MAX = 40


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """When a job may run."""

    not_before: Annotated[str | None, Parameter(group="Job")] = None
    """Do not start it before this time: 2027-01-01T02:00:00Z, or +2h from now on."""


NO_LIMITS = LimitOptions()


def limit_fields(options: LimitOptions) -> dict[str, Any]:
    """Return the fields of a job document that these options set."""
    fields: dict[str, Any] = {}
    if options.not_before is not None:
        fields["not_before"] = read_option("--not-before", options.not_before, parse_moment)
    return fields


def parse_moment(text: str) -> str:
    """Read a time as RFC 3339: `+2h` is a duration from now on, a time without a zone has that
    of this machine. Raise `ValueError` for anything else.
    """
    try:
        if text.startswith("+"):
            moment = datetime.now(UTC) + timedelta(seconds=parse_seconds(text[1:]))
        else:
            moment = datetime.fromisoformat(text)
            moment = moment if moment.tzinfo else moment.astimezone()
        return moment.isoformat()
    except (ValueError, OverflowError, OSError) as error:
        shown = text[:_CHARS_MAX]
        raise ValueError(f"{shown!r} is not a time such as 2027-01-01T02:00:00Z or +2h") from error
