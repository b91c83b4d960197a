"""The parts of a production line, as they are kept: its file is checked elsewhere. Its parameters,
`[parameters]`, are values with a type, which expressions read as `param.NAME`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, Literal, get_args

from weft.core.deliveries.sinks import HTTP
from weft.core.lines.lifecycle import Lifecycle, Say

ParameterType = Literal["text", "integer", "number", "boolean", "date", "list"]
TYPES: Final[tuple[str, ...]] = get_args(ParameterType)
PARAMETERS_MAX: Final = 200
"""Of one setup."""
PARAMETER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
"""A name as expressions write it."""
VALUE_CHARS_MAX: Final = 4000
_INTEGER_MAX: Final = 2**63
_KINDS: Final[Mapping[type, ParameterType]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "text",
    list: "list",
}


@dataclass(frozen=True)
class Parameter:
    """A value of a setup, as JSON."""

    type: ParameterType
    value: Any


def parse_parameters(given: object, say: Say) -> dict[str, Parameter]:
    """Check the parameters of a setup."""
    if not isinstance(given, Mapping) or len(given) > PARAMETERS_MAX:
        say((), f"it should be a table of at most {PARAMETERS_MAX} values")
        return {}
    found = {}
    for name, value in given.items():
        if not PARAMETER.fullmatch(name):
            say((name,), "a name has letters, digits and _, such as search_first")
            continue
        parameter = _parameter_of(value)
        if what := wrong_value(parameter.value):
            say((name,), what)
        else:
            found[name] = parameter
    return found


def _parameter_of(value: object) -> Parameter:
    if isinstance(value, datetime):
        whole = value if value.tzinfo else value.replace(tzinfo=UTC)
        return Parameter("date", whole.isoformat().replace("+00:00", "Z"))
    if isinstance(value, date):
        return Parameter("date", value.isoformat())
    return Parameter(_KINDS.get(type(value), "text"), value)


def wrong_value(value: object) -> str:
    """Return why this cannot be the value of a parameter; empty: it can."""
    many = value if isinstance(value, list) else [value]
    for one in many:
        if not isinstance(one, str | bool | int | float):
            return "a value is a text, a number, true or false, a date, or a list of these"
        if isinstance(one, int) and not -_INTEGER_MAX <= one < _INTEGER_MAX:
            return "a number has at most 64 bits"
        if isinstance(one, str) and ("\0" in one or not one.isprintable()):
            return "a text has printable characters"
    try:
        size = len(json.dumps(value, allow_nan=False))
    except ValueError:
        return "a number is finite"
    return "" if size <= VALUE_CHARS_MAX else f"it has more than {VALUE_CHARS_MAX} characters"


def bound(kind: str, value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Return a value as expressions read it."""
    if kind == "date":
        found = datetime.fromisoformat(value)
        return found if found.tzinfo else datetime.combine(found.date(), time(), UTC)
    return float(value) if kind == "number" else value


Where = tuple[str, ...]
Wanted = Mapping[Where, Any]
"""What a setup says of a pool, by where it stands, in the units of `Pool`."""


@dataclass(frozen=True)
class Source:
    """A checked source. `owner` None: who applies the file."""

    kind: str
    every: timedelta
    owner: str | None
    billing_project: str
    lifecycle: str | None
    job: str
    """The name of a template of the same file."""
    options: Mapping[str, Any]
    sinks: tuple[str, ...] = ()
    """Names of sinks of the same file, which are told of its jobs."""
    aims: Mapping[str, Any] = field(default_factory=dict)
    """What dashboards compare with: `target` and `expected`, as far as the file has them."""


@dataclass(frozen=True)
class Sink:
    """A checked sink."""

    url: str
    """Of a program `command:NAME`."""
    message: str
    """A Jinja2 template of JSON."""
    order: str | None
    """An attribute of jobs: messages of jobs that have the same one are sent one after another."""
    tries: int
    retry_path: tuple[str, ...]
    """Statuses that a job goes through when a try has failed."""
    given_up_path: tuple[str, ...]
    """The same, after the last try."""
    rejected: tuple[tuple[int, int], ...] = ()
    """Ranges of statuses or exit codes that reject a message."""
    rejected_tries: int = 1
    """The try after which a rejection is final."""
    rejected_path: tuple[str, ...] = ()
    """The same as `retry_path` after a rejection, if another try follows or none ever does."""
    command: tuple[str, ...] = ()
    """The name of a program and its arguments."""
    timeout_s: float = 0.0
    """Of the program."""
    each: str | None = None
    """Files of a job's directory, each of which is a message; `None`: one for a job."""
    products: bool = False
    """Each product of a job is a message."""
    schema: Mapping[str, Any] | None = None
    """What messages must fit, as JSON Schema says it."""
    kind: str = HTTP
    options: Mapping[str, str] = field(default_factory=dict)
    """Where messages go, of other kinds; with `${job.NAME}` and `${product.NAME}`."""
    checks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Programs and their arguments, by the names by which products ask for them."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of requests, beside weft's own; with `${secret.NAME}`, as `url`."""
    events: bool = False
    """The start and the end of a job are messages, however it ends."""


@dataclass(frozen=True)
class Setup:
    """A checked setup: what it has, by name."""

    lifecycles: Mapping[str, Lifecycle] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    jobs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sinks: Mapping[str, Sink] = field(default_factory=dict)
    configurations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the name of the template that they fill."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    pools: Mapping[str, Wanted] = field(default_factory=dict)
    """What it wants of pools, which it does not make."""
    queue_pools: Mapping[str, list[str]] = field(default_factory=dict)
    """The pools that it wants its queues to have, by the name of the queue."""
    steered_by: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By the name of a configuration, the parameters that choose what runs."""
    own_sinks: frozenset[str] = frozenset()
    """Sinks that belong to who saves them, also if nothing else of them is new."""


def eaches_of(setup: Setup, source: Source) -> set[str]:
    """Return which files of the jobs of a source are messages for its sinks."""
    sinks = (setup.sinks[name] for name in source.sinks if name in setup.sinks)
    return {sink.each for sink in sinks if sink.each is not None}


def is_failing(source: Mapping[str, Any]) -> bool:
    """Say whether a source, as it is shown, cannot be read, or its items get no jobs: an incident
    until that works again.
    """
    return source["error"] is not None and source["paused_at"] is None


def failing(lines: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return, of all production lines, the sources that fail, and the sinks to which messages do
    not get: each is an incident.
    """
    sinks = [one for one in lines["sinks"] if one["n_given_up"] or one["last_error"]]
    return [*filter(is_failing, lines["sources"]), *sinks]
