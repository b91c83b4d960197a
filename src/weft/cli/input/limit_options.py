"""Options that say when a job may run, for commands that make jobs."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from cyclopts import Parameter

from weft.cli.input.text import check_text
from weft.cli.input.values import read_option
from weft.core.durations import parse_seconds

_CHARS_MAX = 40
N_MAX = 2_000_000_000


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """When a job may run."""

    not_before: Annotated[str | None, Parameter(group="Job")] = None
    """Do not start it before this time: 2027-01-01T02:00:00Z, or +2h from now on."""

    deadline: Annotated[str | None, Parameter(group="Job")] = None
    """End it by this time, written like --not-before; if --timeout does not fit, it fails."""

    concurrency_key: Annotated[str | None, Parameter(group="Job")] = None
    """Run at most N jobs with this KEY at a time, whoever submits them: KEY=N (default 1)."""


NO_LIMITS = LimitOptions()


def limit_fields(options: LimitOptions) -> dict[str, Any]:
    """Return the fields of a job document that these options set."""
    fields: dict[str, Any] = {}
    if options.not_before is not None:
        fields["not_before"] = read_option("--not-before", options.not_before, parse_moment)
    if options.deadline is not None:
        fields["deadline"] = read_option("--deadline", options.deadline, parse_moment)
    if options.concurrency_key is not None:
        fields["concurrency_key"] = read_option(
            "--concurrency-key", options.concurrency_key, parse_concurrency_key
        )
    return fields


def parse_concurrency_key(text: str) -> dict[str, Any]:
    """Read `KEY` or `KEY=N`. Raise `ValueError` for anything else."""
    key, equals, n = text.rpartition("=")
    if not equals:
        key, n = text, "1"
    shown = text[:_CHARS_MAX]
    if not key:
        raise ValueError(f"{shown!r} has no key: write it as db-x, or db-x=2")
    if not n.isdecimal() or not n.isascii() or not 0 < int(n[:_CHARS_MAX]) <= N_MAX:
        raise ValueError(
            f"{shown!r} does not say how many jobs with the key {key[:_CHARS_MAX]} may run at a "
            f"time: after = stands a whole number from 1 to {N_MAX}"
        )
    check_text([key])
    return {"key": key, "n": int(n)}


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
