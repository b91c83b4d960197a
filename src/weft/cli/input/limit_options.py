"""Options that say when a job may run and is tried again, for commands that make jobs."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any, Final

from weft.cli.input.options import bounded, check_text, read_option
from weft.cli.input.signature import Parameter
from weft.core.billing.resources import parse_bytes
from weft.core.text.durations import parse_seconds

_TEXT_CHARS_MAX: Final = 60
_EXAMPLE: Final = '"oom: memory x2 up to 16Gi", "oom: memory 8Gi" or "preempted: stays after 2"'
_RULE: Final = re.compile(
    r"(?P<on>[^ ].*?) *: *"
    r"(?:(?P<stays>stays)|(?P<field>cpu|memory|storage|timeout|machine) +(?P<value>[^ ]+))"
    r"(?: +up +to +(?P<up_to>[^ ]+))?(?: +after +(?P<after>[0-9]{1,3}))?"
)


def parse_words(text: str) -> list[str]:
    """Read words with commas between them. Raise `ValueError` for one that is missing."""
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise ValueError("a word is missing: oom,exit:3, for example")
    return words


def parse_exit_codes(text: str) -> tuple[str, str]:
    """Read what exit codes mean, as `200-207=success`. Raise `ValueError`."""
    codes, equals, meaning = text.partition("=")
    if not equals:
        raise ValueError(f'{text[:_TEXT_CHARS_MAX]!r} is not as "200-207=success: no product"')
    return codes.strip(), meaning.strip()


def parse_retry_with(text: str) -> dict[str, Any]:
    """Read a rule of `retry_with`. Raise `ValueError` for anything else."""
    match = _RULE.fullmatch(text.strip()[:1000])
    if match is None:
        raise ValueError(f"{text[:_TEXT_CHARS_MAX]!r} is no rule such as {_EXAMPLE}")
    rule: dict[str, Any] = {"on": parse_words(match["on"])}
    if match["stays"]:
        rule["preemptible"] = False
    else:
        rule[match["field"]] = match["value"]
    if match["up_to"]:
        rule["up_to"] = match["up_to"]
    if match["after"]:
        rule["after"] = int(match["after"])
    return rule


_CHARS_MAX = 40
_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}")
_DURATION = re.compile(r"[0-9.]+[dhms].*", re.IGNORECASE)
_EXAMPLES = "18:00, 2h (from now) or 2027-01-01T02:00:00Z"
N_MAX = 2_000_000_000


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """When a job may run and is tried again, on which machine, and whether it may be stopped."""

    not_before: Annotated[str | None, Parameter(group="Job")] = None
    """Start no earlier than this: 18:00, 2h (from now) or 2027-01-01T02:00:00Z."""

    deadline: Annotated[str | None, Parameter(group="Job")] = None
    """End by this time, written like --not-before; a job whose --timeout is too long fails."""

    concurrency_key: Annotated[str | None, Parameter(group="Job")] = None
    """Run at most N jobs with this KEY at a time, whoever submits them: KEY=N (default 1)."""

    rate: Annotated[str | None, Parameter(group="Job")] = None
    """Start at most N jobs with this KEY in a period, whoever submits them: KEY=N/1s."""

    preemptible: Annotated[bool, Parameter(group="Job", negative="")] = False
    """It may be stopped for a job of a queue of higher priority; it starts again later."""

    machine: Annotated[str | None, Parameter(group="Job")] = None
    """Run alone on a machine that is made for it: the name of a flavour of its pool."""

    cache: Annotated[bool | None, Parameter(group="Job")] = None
    """Do not run it if the same has succeeded before; --no-cache: run it whatever a file says."""

    code: Annotated[Path | None, Parameter(group="Job")] = None
    """Begin with a copy of this directory's files: those that git tracks, else all."""

    requirements: Annotated[Path | None, Parameter(group="Job")] = None
    """Install the packages of this requirements file or uv.lock before, once for all alike."""

    python: Annotated[str | None, Parameter(group="Job")] = None
    """The version of Python of these packages, such as 3.12 (default: that of the worker)."""

    retries: Annotated[int | None, Parameter(group="Job", validator=bounded(0, 99))] = None
    """How often a job that failed is tried again (default 0)."""

    retry_wait: Annotated[str | None, Parameter(group="Job")] = None
    """Wait before each retry: a time, exponential, or stepwise (default: none)."""

    retry_on: Annotated[tuple[str, ...], Parameter(group="Job", negative="")] = ()
    """Retry only after these ends, as oom,exit:3,exit:10-20,signal:USR1; may be repeated."""

    retry_with: Annotated[tuple[str, ...], Parameter(group="Job", negative="")] = ()
    """Ask for more in a retry: "oom: memory x2 up to 16Gi"; may be repeated."""

    external_errors: Annotated[tuple[str, ...], Parameter(group="Job", negative="")] = ()
    """Exit codes to retry later that are no failures of the job, as 66,70-74; may be repeated."""

    exit_codes: Annotated[tuple[str, ...], Parameter(group="Job", negative="")] = ()
    """What exit codes mean, as "200-207=success: no product"; may be repeated."""

    log_max: Annotated[str | None, Parameter(group="Job")] = None
    """Keep at most this much of each stream of its output, such as 1M; its middle goes."""

    log_keep: Annotated[str | None, Parameter(group="Job")] = None
    """Keep output this long after the end, if all jobs of the batch say it: 12h, 30d."""


def limit_fields(options: LimitOptions) -> dict[str, Any]:
    """Return the fields of a job document that these options set, with paths of files."""
    fields: dict[str, Any] = {
        field: read_option("--" + name.replace("_", "-"), text, read)
        for name, (field, read) in _READERS.items()
        if (text := getattr(options, name)) is not None
    }
    if options.preemptible:
        fields["preemptible"] = True
    if options.cache is not None:
        fields["cache"] = "inputs" if options.cache else "off"
    if options.code is not None:
        fields["code"] = options.code.absolute()
    file = options.requirements
    packages = {"file": file and file.absolute(), "python": options.python}
    if wishes := {name: value for name, value in packages.items() if value is not None}:
        fields["requirements"] = wishes
    if options.machine is not None:
        check_text([options.machine])
        fields["machine"] = options.machine
    if options.retries is not None:
        fields["max_attempts"] = options.retries + 1
    log: dict[str, Any] = {}
    if options.log_max is not None:
        log["max_bytes"] = read_option("--log-max", options.log_max, parse_bytes)
    if options.log_keep is not None:
        log["keep_s"] = math.ceil(read_option("--log-keep", options.log_keep, parse_seconds))
    return fields | ({"log": log} if log else {}) | _retry_fields(options)


def _retry_fields(options: LimitOptions) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in ("retry_on", "external_errors"):
        if texts := getattr(options, name):
            check_text(texts)
            words = read_option("--" + name.replace("_", "-"), ",".join(texts), parse_words)
            fields[name] = words
    for name, parse in (("exit_codes", parse_exit_codes), ("retry_with", parse_retry_with)):
        if texts := getattr(options, name):
            check_text(texts)
            option = "--" + name.replace("_", "-")
            found: list[Any] = [read_option(option, text, parse) for text in texts]
            fields[name] = dict(found) if name == "exit_codes" else found
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
            f"{shown!r} must end with how many jobs with the key {key[:_CHARS_MAX]} may run at a "
            "time, at least 1"
        )
    check_text([key])
    return {"key": key, "n": int(n)}


def parse_rate(text: str) -> dict[str, Any]:
    """Read `KEY=N/PERIOD`. Raise `ValueError` for anything else."""
    shown = text[:_CHARS_MAX]
    counted, _, period = text.rpartition("/")
    if not counted or not period:
        raise ValueError(f"{shown!r} has no period: write it as api=10/1s")
    if "=" not in counted:
        raise ValueError(f"{shown!r} has no number: write it as api=10/1s")
    return parse_concurrency_key(counted) | {"per_s": parse_seconds(period)}


def parse_retry_wait(text: str) -> dict[str, Any]:
    """Read a time, or the name of a policy. Raise `ValueError` for anything else."""
    if text in {"exponential", "stepwise"}:
        return {"policy": text}
    try:
        return {"policy": "constant", "wait_s": parse_seconds(text)}
    except ValueError as error:
        shown = text[:_CHARS_MAX]
        raise ValueError(
            f"{shown!r} is neither a time such as 30s, nor exponential, nor stepwise"
        ) from error


def parse_moment(text: str, now: datetime | None = None) -> str:
    """Read a time as RFC 3339: `2h` or `+2h` is a duration from now, `18:00` the next one, and
    a time without a zone has that of this machine. Raise `ValueError` for anything else.
    """
    now = now or datetime.now().astimezone()
    try:
        return _moment(text.strip(), now).isoformat()
    except (ValueError, OverflowError, OSError) as error:
        shown = text[:_CHARS_MAX]
        raise ValueError(f"{shown!r} is not a time such as {_EXAMPLES}") from error


def parse_past(text: str) -> datetime:
    """Read a time as RFC 3339: `2h` is a duration before now, and a time without a zone has that
    of this machine. Raise `ValueError` for anything else.
    """
    now = datetime.now().astimezone()
    try:
        if _DURATION.fullmatch(text):
            return now - timedelta(seconds=parse_seconds(text))
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else _here(moment)
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(
            f"{text[:_CHARS_MAX]!r} is not a time such as 2h or 2026-11-22T18:00"
        ) from error


def parse_deadline(text: str) -> str:
    """Read a time as `parse_moment`. Raise `ValueError` also for one that has passed."""
    moment = parse_moment(text)
    if datetime.fromisoformat(moment) <= datetime.now(UTC):
        raise ValueError(f"{text[:_CHARS_MAX]} has passed")
    return moment


def _moment(text: str, now: datetime) -> datetime:
    if text.startswith("+"):
        return now.astimezone(UTC) + timedelta(seconds=parse_seconds(text[1:]))
    if _DURATION.fullmatch(text):
        return now.astimezone(UTC) + timedelta(seconds=parse_seconds(text))
    if _CLOCK.fullmatch(text):
        clock = time.fromisoformat(text.zfill(5))
        today = datetime.combine(now.date(), clock)
        # The zone comes last: its offset may change overnight.
        at = _here(today)
        return at if at > now else _here(today + timedelta(days=1))
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else _here(moment)


def _here(moment: datetime) -> datetime:
    """Return a time of this machine's clock with its zone. One that the clock skips in spring is
    the later of the two that it might be, as `date` and cron take it.
    """
    at = moment.astimezone()
    if at.replace(tzinfo=None) == moment:
        return at
    return max(at, moment.replace(fold=1).astimezone())


_READERS: Final[Mapping[str, tuple[str, Callable[[str], object]]]] = {
    "not_before": ("not_before", parse_moment),
    "deadline": ("deadline", parse_deadline),
    "concurrency_key": ("concurrency_key", parse_concurrency_key),
    "rate": ("rate", parse_rate),
    "retry_wait": ("retry", parse_retry_wait),
}
"""By options whose text is one field: its name, and what reads it."""
