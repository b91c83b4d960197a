"""Settings of the runner `nomad`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from weft.settings import setting


@dataclass(frozen=True, kw_only=True)
class NomadSettings:
    """How a gateway, or the driver for machines, speaks to Nomad."""

    nomad_address: str = setting("http://127.0.0.1:4646", "the address of Nomad's API")
    nomad_token: str = setting(
        "", "a token of Nomad's that may submit, read and stop jobs", is_secret=True
    )
    nomad_ca: Path | None = setting(
        None, "certificate authorities for the address (default: the system's)"
    )
    nomad_namespace: str = setting("default", "Nomad's namespace of the jobs")
    nomad_datacenters: str = setting("*", "data centers in which jobs may run, as dc1,dc2")
    nomad_driver: Literal["raw_exec", "exec"] = setting(
        "raw_exec", "the driver that runs the job's shell on a node"
    )
    nomad_connect: str | None = setting(
        None,
        "the address at which machines on the nodes reach the api, as https://weft.example.org",
    )
    nomad_core_mhz: int = setting(
        1000, "MHz that Nomad is asked for where a job asks for a core", within=(1, 100_000)
    )
    nomad_look_s: float = setting(
        1.0, "seconds between looks at Nomad, while attempts are there", within=(0.2, 600)
    )
    nomad_answer_s: float = setting(
        30.0, "seconds after which a request to Nomad counts as unanswered", within=(1, 600)
    )
