"""Every setting of weft, once: name, type, default, limits and one sentence.

Precedence: command line > `WEFT_<NAME>` in the environment > `weft.toml` in the home > default.
`weft config` prints each value with where it came from.
"""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import platformdirs

from weft.core.addresses import parse_allowed_hosts
from weft.core.errors import FieldError, Invalid
from weft.core.resources import parse_bytes

FILE_NAME = "weft.toml"


class InvalidSetting(Invalid):
    """A setting with an impossible value."""

    code = "CLI.INVALID_SETTING"


def _setting(
    default: Any,  # noqa: ANN401 (one function for settings of all types)
    help_: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    size: bool = False,
    choices: tuple[str, ...] = (),
    check: Callable[[str], object] | None = None,
) -> Any:  # noqa: ANN401
    """Declare one setting.

    `size`: bytes, also written `64Mi`. `check`: raises `ValueError` for what is no value.
    """
    return field(
        default=default,
        metadata={
            "help": help_,
            "minimum": minimum,
            "maximum": maximum,
            "size": size,
            "choices": choices,
            "check": check,
        },
    )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one process."""

    home: Path = _setting(  # noqa: RUF009 (it makes a field; computed by `explain_settings`)
        None, "directory of the database, the logs and the local token"
    )
    database: str | None = _setting(None, "DSN of an external PostgreSQL; none: the embedded one")
    host: str = _setting("127.0.0.1", "address on which the api listens")
    port: int = _setting(8765, "port of the api; 0 takes a free one", minimum=0, maximum=65535)
    url: str | None = _setting(
        None, "where clients find the api; none: as in the home's client.json"
    )
    token: str | None = _setting(None, "token of the client; none: as in the home's client.json")
    log_format: str = _setting("auto", "form of log lines", choices=("auto", "console", "json"))
    log_level: str = _setting(
        "info", "least important log line shown", choices=("debug", "info", "warning", "error")
    )
    drivers: int = _setting(1, "number of drivers that `weft up` starts", minimum=1, maximum=8)
    worker_name: str | None = _setting(None, "name of this worker; none: the host's name")
    pool: str = _setting("default", "pool that the worker joins")
    worker_cpu_m: int | None = _setting(
        None,
        "mCPU that the worker gives to jobs; none: all cores of the host",
        minimum=1,
        maximum=100_000_000,
    )
    worker_memory_bytes: int | None = _setting(
        None,
        "memory that the worker gives to jobs; none: nine tenths of the host's",
        minimum=1,
        size=True,
    )
    detach_jobs: bool = _setting(
        default=False, help_="leave running jobs alone when the worker stops"
    )
    heartbeat_s: float = _setting(10.0, "seconds between heartbeats", minimum=5, maximum=3600)
    lost_after_s: float = _setting(
        30.0, "silence after which a worker is lost", minimum=10, maximum=86400
    )
    grace_s: float = _setting(10.0, "seconds from SIGTERM to SIGKILL", minimum=0, maximum=3600)
    stream_bytes_max: int = _setting(
        64 << 20,
        "kept output of one stream of one attempt",
        minimum=1 << 10,
        maximum=1 << 40,
        size=True,
    )
    stream_head_bytes: int = _setting(
        1 << 20,
        "how much of it is the beginning, the rest is the end",
        minimum=0,
        maximum=1 << 40,
        size=True,
    )
    bunch_jobs_max: int = _setting(
        10_000, "jobs in one request, an array counted once", minimum=1, maximum=100_000
    )
    array_jobs_max: int = _setting(
        1_000_000,
        "jobs in one request, those of arrays counted one by one",
        minimum=1,
        maximum=100_000_000,
    )
    bunch_edges_max: int = _setting(
        1_000_000, "pairs of a job and its parent in one request", minimum=1, maximum=100_000_000
    )
    bunch_bytes_max: int = _setting(
        16 << 20, "bytes of one request", minimum=1 << 10, maximum=1 << 30, size=True
    )
    argv_bytes_max: int = _setting(
        128 << 10,
        "bytes of argv and environment of one job",
        minimum=1 << 10,
        maximum=1 << 21,
        size=True,
    )
    function_bytes_max: int = _setting(
        1 << 20,
        "bytes of a pickled function, and of the arguments of one job",
        minimum=1 << 10,
        maximum=16 << 20,
        size=True,
    )
    result_bytes_max: int = _setting(
        256 << 20,
        "bytes of what a function returns",
        minimum=1 << 10,
        maximum=4 << 30,
        size=True,
    )
    warm_calls_max: int = _setting(
        10_000, "jobs that one warm process serves", minimum=1, maximum=1_000_000_000
    )
    warm_memory_bytes_max: int = _setting(
        1 << 30,
        "memory of a warm process after a job, above which it serves no other",
        minimum=1 << 20,
        maximum=1 << 40,
        size=True,
    )
    warm_idle_s: float = _setting(
        30.0, "seconds after which an idle warm process ends", minimum=0, maximum=86400
    )
    name_chars_max: int = _setting(256, "characters of a name", minimum=1, maximum=1024)
    attributes_max: int = _setting(64, "attributes of one thing", minimum=0, maximum=1024)
    attribute_bytes_max: int = _setting(
        1024, "bytes of one attribute, key and value", minimum=1, maximum=65536, size=True
    )
    group_depth_max: int = _setting(16, "depth of the tree of groups", minimum=1, maximum=64)
    batch_groups_max: int = _setting(
        1_000_000, "groups of one batch", minimum=1, maximum=2_000_000_000
    )
    job_sets_max: int = _setting(64, "sets that one job may be in", minimum=1, maximum=1024)
    rename_groups_max: int = _setting(
        10_000, "groups whose paths one new name may change", minimum=1, maximum=1_000_000
    )
    page_rows: int = _setting(
        50, "rows of a page if the caller does not say", minimum=1, maximum=1000
    )
    query_chars_max: int = _setting(8192, "characters of a query", minimum=1, maximum=1 << 16)
    query_scan_jobs_max: int = _setting(
        1_000_000,
        "jobs that may be read for a query that no index answers",
        minimum=1,
        maximum=2_000_000_000,
    )
    query_timeout_s: float = _setting(
        10.0, "seconds after which a query is stopped", minimum=0.1, maximum=600
    )
    events_keep_s: float = _setting(
        86400.0, "seconds for which events can be read again", minimum=60, maximum=31536000
    )
    updates_keep_s: float = _setting(
        86400.0,
        "seconds after which an uncommitted update is removed",
        minimum=60,
        maximum=31536000,
    )
    callback_private_hosts: str = _setting(
        "",
        "networks and hosts that callbacks may reach although they are not public, "
        "such as `10.0.0.0/8, hooks.internal`; `*`: all",
        check=parse_allowed_hosts,
    )
    callback_connect_timeout_s: float = _setting(
        5.0, "seconds for a callback's connection", minimum=0.1, maximum=60
    )
    callback_timeout_s: float = _setting(
        30.0, "seconds for one attempt of a callback", minimum=0.1, maximum=300
    )
    callback_retry_first_s: float = _setting(
        2.0, "pause after a callback's first failure; it doubles", minimum=0.01, maximum=3600
    )
    callback_retry_longest_s: float = _setting(
        3600.0, "longest pause between two attempts of a callback", minimum=0.01, maximum=86400
    )
    callback_attempts_max: int = _setting(
        100, "attempts after which a callback is given up", minimum=1, maximum=10_000
    )
    callback_age_max_s: float = _setting(
        259200.0,
        "seconds after the completion at which a callback is given up",
        minimum=1,
        maximum=31536000,
    )
    callbacks_max: int = _setting(
        32, "callbacks on their way at once; of one tenant half of that", minimum=2, maximum=1000
    )
    callbacks_per_host_max: int = _setting(
        4, "callbacks on their way to one host at once", minimum=1, maximum=1000
    )


@dataclass(frozen=True)
class Source:
    """A value and where it came from.

    `command line`, `environment WEFT_X`, the path of a file, `default`.
    """

    value: Any  # settings have several types
    origin: str


def default_home(environ: Mapping[str, str]) -> Path:
    """Return `WEFT_HOME`, else the user's data directory."""
    named = environ.get("WEFT_HOME")
    return Path(named).expanduser() if named else Path(platformdirs.user_data_dir("weft"))


def load_settings(
    flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings. `flags`: those of the command line; `None` values count as not given.

    Raises `InvalidSetting` with all offending settings at once.
    """
    return Settings(
        **{name: source.value for name, source in explain_settings(flags, environ).items()}
    )


def explain_settings(
    flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> dict[str, Source]:
    """Return every setting with where its value came from."""
    environ = os.environ if environ is None else environ
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    home = Path(given["home"]).expanduser() if "home" in given else default_home(environ)
    home = home.absolute()
    file = home / FILE_NAME
    stored = _read_file(file)
    problems = [
        FieldError(f"/{name}", f"{file} names a setting that does not exist")
        for name in stored.keys() - {one.name for one in fields(Settings)}
    ]
    result: dict[str, Source] = {}
    for one in fields(Settings):
        variable = f"WEFT_{one.name.upper()}"
        if one.name in given:
            source = Source(given[one.name], "command line")
        elif environ.get(variable, "") != "":
            source = Source(environ[variable], f"environment {variable}")
        elif one.name in stored:
            source = Source(stored[one.name], str(file))
        else:
            source = Source(one.default, "default")
        if one.name == "home":
            result["home"] = Source(home, source.origin)
            continue
        try:
            result[one.name] = Source(_convert(one, source.value), source.origin)
        except (ValueError, TypeError) as error:
            problems.append(FieldError(f"/{one.name}", f"{error} ({source.origin})"))
    if problems:
        raise InvalidSetting(
            "a setting has an impossible value",
            detail="; ".join(f"{p.pointer[1:]}: {p.message}" for p in problems) + ".",
            hint="`weft config` lists every setting with its limits.",
            errors=problems,
        )
    return result


def _read_file(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InvalidSetting(
            f"cannot read {file}",
            detail=f"{error.strerror}.",
            hint="Make it readable, or name another home with --home or WEFT_HOME.",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSetting(
            f"cannot read {file}", detail=f"{error}.", hint="Write it as TOML: `port = 8765`."
        ) from error


def _convert(one: Any, value: Any) -> Any:  # noqa: ANN401 (settings have several types)
    """Turn text into the setting's type and check its limits."""
    if value is None:
        return None
    kind = str(one.type)
    limits = one.metadata
    if "bool" in kind:
        if isinstance(value, bool):
            return value
        words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
        if str(value).lower() not in words:
            raise ValueError(f"{value!r} is neither true nor false")
        return words[str(value).lower()]
    converted: Any
    if limits["size"]:
        converted = parse_bytes(value)
    elif "int" in kind or "float" in kind:
        try:
            converted = int(value) if "int" in kind else float(value)
        except ValueError:
            whole = "whole " if "int" in kind else ""
            raise ValueError(f"{value!r} is not a {whole}number") from None
    else:
        converted = str(value)
    if limits["minimum"] is not None and converted < limits["minimum"]:
        raise ValueError(f"{value!r} is below {limits['minimum']}")
    if limits["maximum"] is not None and not converted <= limits["maximum"]:
        raise ValueError(f"{value!r} is above {limits['maximum']}")
    if limits["choices"] and converted not in limits["choices"]:
        raise ValueError(f"{value!r} is none of {', '.join(limits['choices'])}")
    if limits["check"] is not None:
        limits["check"](converted)
    return converted
