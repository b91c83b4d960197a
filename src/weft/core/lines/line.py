"""The parts of a production line, as they are kept: its file is checked elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from weft.core.deliveries.sinks import HTTP
from weft.core.lines.lifecycle import Lifecycle
from weft.core.lines.parameters import Parameter

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
