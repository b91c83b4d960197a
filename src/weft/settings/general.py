"""Settings of every process."""

from pathlib import Path
from typing import Annotated, Literal

from weft.settings.declare import Checked, section, setting
from weft.settings.home import HomeSettings
from weft.wire.sealed import parse_keys


@section
class GeneralSettings(HomeSettings):
    """What a process logs, and how others notice that it lives."""

    secret_keys: Annotated[str, Checked(parse_keys)] | None = setting(
        None,
        "keys that encrypt secrets of jobs, the newest first: 32 bytes each in base64; none: "
        "those in the home's secret-keys.json",
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
    heartbeat_s: float = setting(
        10.0, "seconds between heartbeats", minimum=5, maximum=3600, in_sql=True
    )
    lost_after_s: float = setting(
        30.0, "seconds of silence after which a worker is lost", minimum=10, maximum=86400
    )
