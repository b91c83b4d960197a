"""The keywords of `create_job` that few callers need."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any, Literal, TypedDict


class RetryKeywords(TypedDict, total=False):
    """Fields that say after which ends a job is tried again, when, and with what."""

    max_attempts: int | None
    """How often it is tried if it fails."""
    retry_on: Sequence[str] | None
    """Reasons to try again, also as `exit:3`, `exit:10-20` or `signal:USR1`; default: all that a
    retry may cure.
    """
    retry: Mapping[str, Any] | None
    """`{"policy": "exponential"}`: how long it waits before it is tried again; default: not."""
    external_errors: Sequence[int | str] | None
    """Exit codes and ranges, as `[66, "70-74"]`, that are no failures of its own: it is tried
    again later, and that does not count.
    """
    exit_codes: Mapping[str, str] | None
    """`{"200-207": "success: no product"}`: exit codes that are successes, too, and how."""
    retry_with: Sequence[Mapping[str, Any]] | None
    """`[{"on": ["oom"], "memory": "x2", "up_to": "16Gi"}]`: what another attempt asks for beyond
    the one before it; default: nothing.
    """


class JobKeywords(RetryKeywords, total=False):
    """Fields of a job's document with which `create_job` does nothing but send them.

    Annotate a function of yours that passes them on: `**keywords: Unpack[JobKeywords]`.
    """

    secrets: Sequence[Mapping[str, str]] | None
    """`[{"name": "db-password", "env": "DB_PASSWORD"}]`: secrets that it gets when it starts, as
    variables or as files (`file`) in the directory `WEFT_SECRETS_DIR`.
    """
    inputs: Sequence[Mapping[str, Any]] | None
    """`[{"from": "weft://align/out.bam", "env": "BAM"}]`: files that it gets before it starts."""
    outputs: Sequence[Mapping[str, Any]] | None
    """`[{"from": "out/*.txt"}]`: files of its directory that are kept when it has ended."""
    stdin: str | None
    """Text that it can read."""
    priority: int | None
    """Higher first, among the jobs of one user."""
    attributes: Mapping[str, str] | None
    """Keys and values for queries."""
    executor: str | None
    """The executor that runs it; default: `process`."""
    index_from: int | None
    """Index of the first job of an array; default: 0."""
    umask: str | None
    """File mode mask in octal, such as `"0077"`; default: the worker's."""
    not_before: datetime | str | None
    """Time with its zone until which it waits."""
    deadline: datetime | str | None
    """Time with its zone by which it must have ended."""
    concurrency_key: Mapping[str, str | int] | None
    """`{"key": "db-x", "n": 2}`: at most two jobs with it run at once."""
    rate: Mapping[str, str | int | float] | None
    """`{"key": "api", "n": 10, "per_s": 1}`: at most ten jobs with it start in a second."""
    queue: str | None
    """The queue in which it waits; default: the first whose guard is true."""
    preemptible: bool | None
    """Whether it may be stopped while it runs and started again; default: no."""
    machine: str | None
    """The flavour of the machine that is made for it alone; default: it shares one."""
    network: bool | None
    """False: it runs without network, or not at all; default: as its worker lets it."""
    log: Mapping[str, Any] | None
    """`{"max_bytes": 1_000_000, "keep_s": 86_400, "level": "debug"}`: how much of its output is
    kept, for how long, and said.
    """
    container: Mapping[str, Any] | None
    """`{"image": "docker://registry.example/bwa:0.7.18"}`: runs it in a container."""
    engine: Mapping[str, str] | None
    """`{"partition": "long", "account": "climate"}`: what it chooses of its engine."""
    simulation: Mapping[str, Any] | None
    """`{"steps": [{"action": "SLEEP", "durationMs": 1000}]}`: simulated, instead of a command."""
    service: Mapping[str, Any] | None
    wait: Mapping[str, Any] | None
    """`{"health": {"http": "http://127.0.0.1:8080/ready"}}`: started again whenever it ends."""
    code: str | PurePath | Mapping[str, str] | None
    """`"."`: a folder whose files it begins with: those that git tracks if it is of a checkout."""
    requirements: str | PurePath | Mapping[str, str] | None
    """`"requirements.txt"`, or `{"file": "uv.lock", "python": "3.12"}`: packages that its worker
    installs before, once for all jobs with the same.
    """
    cache: Literal["inputs", "off"] | None
    """`"inputs"`: it does not run if the same has succeeded before; default: it runs."""
    app: str | None
    """`"wordcount-1.0"`: an application that it runs, instead of a command."""
    parameters: Mapping[str, Any] | None
    """`{"lines": True}`: values of the application's parameters."""


NAMES = frozenset(JobKeywords.__annotations__)
RETRY_NAMES = frozenset(RetryKeywords.__annotations__)
