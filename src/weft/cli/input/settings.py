"""Options that override settings. Each has the name of its setting."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from weft.cli.input.options import Local, Words
from weft.cli.input.signature import Parameter
from weft.cli.terminal.report import note
from weft.settings import InvalidSetting, Settings, load_settings, misspelt_variables


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """Common settings of the server; `weft config` lists all."""

    database: str | None = None
    """DSN of an external PostgreSQL (default: the embedded one)."""

    host: str | None = None
    """Address on which the api listens (default 127.0.0.1)."""

    port: int | None = None
    """Port of the api (default 8765); 0 takes a free one."""

    log_format: str | None = None
    """Format of log lines: auto, console or json."""

    log_level: str | None = None
    """Least important log line shown: debug, info, warning or error."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """Settings of the worker."""

    worker_name: str | None = None
    """Name of the worker (default: the host's)."""

    pool: str | None = None
    """Pool that the worker joins (default: default)."""

    queue: Words = ()
    """Queue that the worker serves; may be repeated (default: all that use its pool)."""

    worker_cpu: str | None = None
    """Cores that the worker gives to jobs, such as 4 or 2500m (default: all)."""

    worker_memory: str | None = None
    """Memory that it gives to jobs, such as 8Gi (default: 90% of the host's)."""

    slots: int | None = None
    """Jobs that it runs at a time, whatever they ask for (default: as many as fit)."""

    label: Words = ()
    """Label that jobs may ask for in `resources`, such as rack=12; may be repeated."""

    runner: str | None = None
    """What runs its jobs: spawner (on this host, the default), slurm …"""

    gpus: str | None = None
    """Ids of GPUs that it gives to jobs, such as 0,1, or none (default: those of the host)."""

    detach_jobs: Annotated[bool | None, Parameter(negative="")] = None
    """Leave running jobs alone when the worker stops; they are adopted at the next start."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LinkOptions:
    """Settings of a worker outside."""

    connect: str | None = None
    """URL of the api, for a worker outside: it needs no login of the database."""

    token_file: Path | None = None
    """File with its token, of `weft token create NAME --pool POOL`."""


Options = ServerOptions | WorkerOptions | LinkOptions
NO_LINK_OPTIONS = LinkOptions()
NO_SERVER_OPTIONS = ServerOptions()
NO_WORKER_OPTIONS = WorkerOptions()


def settings_of(shared: Local, *groups: Options) -> Settings:
    """Return the settings, overridden by these options. Raise `InvalidSetting`.

    Tell the user of variables that are probably misspelt.
    """
    note_misspelt_variables()
    return load_settings(flags_of(shared, *groups))


def note_misspelt_variables() -> None:
    """Tell the user of variables that name no setting, but nearly do."""
    for name, meant in misspelt_variables().items():
        note(f"{name} is ignored: there is no such setting; did you mean {meant}?")


def flags_of(shared: Local, *groups: Options) -> dict[str, Any]:
    """Return the options that were given, under the names of their settings."""
    from weft.core.billing.resources import parse_cpu_m  # noqa: PLC0415

    flags: dict[str, Any] = {"home": shared.home}
    for group in groups:
        flags |= {field.name: getattr(group, field.name) for field in fields(group)}
    flags["worker_memory_bytes"] = flags.pop("worker_memory", None)
    flags["worker_queues"] = ",".join(flags.pop("queue", ())) or None
    flags["worker_slots"] = flags.pop("slots", None)
    flags["worker_gpus"] = flags.pop("gpus", None)
    flags["worker_labels"] = ",".join(flags.pop("label", ())) or None
    cores = flags.pop("worker_cpu", None)
    try:
        flags["worker_cpu_m"] = None if cores is None else parse_cpu_m(cores)
    except ValueError as error:
        raise InvalidSetting(
            "--worker-cpu has an impossible value",
            detail=f"{error}.",
            hint="Write cores, as 4 or 0.5, or thousandths of one, as 2500m.",
        ) from error
    return {name: value for name, value in flags.items() if value is not None}
