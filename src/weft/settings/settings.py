"""The settings of one process: the sections of all roles, and those of the plug-ins."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from weft.core.addresses import parse_allowed_hosts
from weft.core.database_name import check_pooler
from weft.core.deliveries.mail import parse_mail_address, parse_mail_domains, parse_mail_server
from weft.core.ends.conditions import parse_tester_commands
from weft.core.text.texts import parse_paths
from weft.settings.api import ApiSettings
from weft.settings.client import ClientProcessSettings
from weft.settings.declare import Bytes, Checked, section, setting
from weft.settings.driver import DriverSettings
from weft.settings.home import HomeSettings
from weft.settings.submission import SubmissionSettings
from weft.settings.worker import WorkerSettings
from weft.wire.sealed import parse_keys


@section
class CallbackSettings:
    """Whom callbacks may reach, and how often the driver tries."""

    callback_private_hosts: Annotated[str, Checked(parse_allowed_hosts)] = setting(
        "",
        "networks and hosts that callbacks may reach although they are not public, "
        "such as `10.0.0.0/8, hooks.internal`; `*`: all",
    )
    sink_commands: Annotated[str, Checked(parse_tester_commands)] = setting(
        "",
        "programs that sinks of kind `command` may run, with the rights of the driver, such as "
        "`announce=/opt/announce,mail=/opt/mail`",
    )
    callback_retry_first_s: float = setting(
        2.0, "pause after a callback's first failure; it doubles", within=(0.01, 3600)
    )
    callback_retry_longest_s: float = setting(
        3600.0, "longest pause between two attempts of a callback", within=(0.01, 86400)
    )
    callback_attempts_max: int = setting(
        100, "attempts after which a callback is given up", within=(1, 10_000)
    )
    callback_age_max_s: float = setting(
        259200.0,
        "seconds after the completion at which a callback is given up",
        within=(1, 31536000),
    )
    callbacks_max: int = setting(
        32, "callbacks that are sent at once; one tenant may use half of them", within=(2, 1000)
    )
    callbacks_per_host_max: int = setting(
        4, "callbacks that are sent to one host at once", within=(1, 1000)
    )
    mail_server: Annotated[str, Checked(parse_mail_server)] = setting(
        "",
        "`HOST:PORT` of the SMTP server that takes mail to subscribers; empty: nobody is mailed",
    )
    mail_from: Annotated[str, Checked(parse_mail_address)] = setting(
        "weft@localhost", "address from which mail comes"
    )
    mail_domains: Annotated[str, Checked(parse_mail_domains)] = setting(
        "*", "domains to which mail may go, such as `example.org, example.com`; `*`: all"
    )
    mail_tls: Literal["no", "starttls", "tls"] = setting(
        "no", "how the SMTP server is spoken to: in the open, by STARTTLS, or by TLS"
    )
    job_subscriptions_max: int = setting(
        20, "subscriptions to events that a job may have", within=(0, 1000)
    )


@section
class DatabaseSettings:
    """Which database a process uses."""

    database: str | None = setting(
        None, "DSN of an external PostgreSQL; none: the embedded one", is_secret=True
    )
    pooler: Annotated[str, Checked(check_pooler)] | None = setting(
        None,
        "host:port of a pooler in transaction mode through which the roles call the database; "
        "what they must hold, such as the driver's lead and LISTEN, goes to the database itself",
    )


@section
class SourceSettings:
    """What sources may read, how much of it, and for how long."""

    source_paths: Annotated[str, Checked(parse_paths)] = setting(
        "", "directories that sources of production lines may read, such as `/data/in,/data/maps`"
    )
    source_private_hosts: Annotated[str, Checked(parse_allowed_hosts)] = setting(
        "",
        "networks and hosts that sources of production lines may ask although they are not "
        "public, such as `10.0.0.0/8, catalogue.internal`; `*`: all",
    )
    source_commands: Annotated[str, Checked(parse_tester_commands)] = setting(
        "",
        "programs that sources of kind `command` may run, with the rights of the driver, such as "
        "`scenes=/opt/scenes,maps=/opt/maps`",
    )
    source_timeout_s: float = setting(
        60.0, "seconds for one reading of a source", within=(1, 3600)
    )
    source_items_max: int = setting(
        500,
        "items of one reading of a source; what is left comes with the next one, at once",
        within=(1, 10_000),
    )
    source_retry_longest_s: float = setting(
        300.0,
        "seconds until a source that fails again and again is read again, at most",
        within=(1, 86_400),
    )
    sources_at_once: int = setting(
        20, "sources that are read at the same time, each in a process", within=(1, 1000)
    )


@section
class ScheduleSettings:
    """How many schedules there may be, and what happens when they are late or refused."""

    schedules_per_user_max: int = setting(
        1000, "schedules that one user may have", within=(0, 1_000_000)
    )
    schedule_document_bytes_max: Bytes = setting(
        1 << 20, "bytes of the batch document of a schedule", within=(1 << 10, 16 << 20)
    )
    schedule_interval_min_s: float = setting(
        60.0, "shortest time in seconds between two runs", within=(60, 31_536_000)
    )
    schedule_late_s: float = setting(
        60.0, "how many seconds late a run is not missed yet", within=(1, 31_536_000)
    )
    schedule_missed_max: int = setting(
        10,
        "missed runs that a schedule with `missed` = `all` makes up for, the newest ones",
        within=(1, 1000),
    )
    schedule_failures_max: int = setting(
        10, "runs refused in a row after which a schedule is paused", within=(1, 1000), in_sql=True
    )
    schedule_runs_kept: int = setting(
        10, "runs of a schedule that it shows", within=(1, 1000), in_sql=True
    )


@section
class StoreSettings:
    """Which stores there may be, and what they may reach."""

    stores_max: int = setting(100, "stores of files that a tenant may have", within=(0, 10_000))
    store_single_bytes_max: Bytes = setting(
        256 << 20,
        "bytes of an object that is stored in one request; a larger one goes in parts, and after "
        "a break goes on with the part that is missing",
        within=(5 << 20, 5 << 30),
    )
    store_private_hosts: Annotated[str, Checked(parse_allowed_hosts)] = setting(
        "",
        "networks and hosts where stores of files may be although they are not public, such as "
        "`10.0.0.0/8, minio.internal`; `*`: all",
    )
    store_buckets: str = setting(
        "",
        "buckets that stores may reach with the credentials of this process or its machine "
        "(`--env`, `--instance-role`), such as `genomes, results`; `*`: all; empty: none",
    )


@section
class TesterSettings:
    """What testers may do, and for how long."""

    tester_timeout_s: float = setting(
        5.0, "seconds for one test of what blocked jobs wait for", within=(0.1, 300)
    )
    tester_private_hosts: Annotated[str, Checked(parse_allowed_hosts)] = setting(
        "",
        "networks and hosts that testers may reach although they are not public, "
        "such as `10.0.0.0/8, db.internal`; `*`: all",
    )
    tester_paths: Annotated[str, Checked(parse_paths)] = setting(
        "", "directories in which the tester `path` may look, such as `/data, /scratch`"
    )
    tester_commands: Annotated[str, Checked(parse_tester_commands)] = setting(
        "",
        "programs that the tester `command` may run, without arguments and with the rights of "
        "the driver, such as `licences=/opt/licences,disk=/opt/disk`",
    )


@section
class SimulationLimits:
    """How much a simulated job may say that it does."""

    simulation_steps_max: int = setting(1000, "steps of a simulated job", within=(0, 100_000))
    simulation_step_s_max: float = setting(
        3600.0, "seconds that one step of a simulated job takes", within=(0, 31_536_000)
    )
    simulation_job_s_max: float = setting(
        86_400.0, "seconds that all its steps take", within=(0, 31_536_000)
    )
    simulation_iterations_max: int = setting(
        2_147_483_647,
        "iterations that a simulated job computes in all",
        within=(0, 1_000_000_000_000),
    )
    simulation_text_bytes_max: Bytes = setting(
        64 << 10, "bytes of one text in a simulated job", within=(0, 1 << 20)
    )


@section
class GeneralSettings(HomeSettings):
    """What a process logs, and how others notice that it lives."""

    secret_keys: Annotated[str, Checked(parse_keys)] | None = setting(
        None,
        "keys that encrypt secrets of jobs, the newest first, between commas: 32 bytes each in "
        "base64; none: those in the home's secret-keys.json",
        is_secret=True,
    )
    transports_file: Path | None = setting(
        None, "TOML file that names the connections over which queues may travel to workers"
    )
    log_store: str = setting("files", "log store that keeps the output of jobs")
    log_format: Literal["auto", "console", "json"] = setting("auto", "format of log lines")
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "info", "least important log line shown"
    )
    heartbeat_s: float = setting(10.0, "seconds between heartbeats", within=(5, 3600), in_sql=True)
    lost_after_s: float = setting(
        30.0, "seconds of silence after which a worker is lost", within=(10, 86400)
    )


Section = TypeVar("Section")


# Fields come in the reverse order of the bases: `weft config` begins with the general ones.
@dataclass(frozen=True, kw_only=True)
class Settings(
    TesterSettings,
    StoreSettings,
    SourceSettings,
    CallbackSettings,
    ScheduleSettings,
    SimulationLimits,
    SubmissionSettings,
    DriverSettings,
    WorkerSettings,
    ApiSettings,
    ClientProcessSettings,
    DatabaseSettings,
    GeneralSettings,
):
    """The settings of one process."""

    plugin_sections: tuple[object, ...] = ()
    """Sections of plug-ins with a value that was given; `section` finds them."""

    def section(self, kind: type[Section]) -> Section:
        """Return the section of a plug-in."""
        for one in self.plugin_sections:
            if isinstance(one, kind):
                return one
        return kind()
