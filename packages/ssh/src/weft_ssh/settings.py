"""Settings of the provider `ssh`."""

from dataclasses import dataclass
from pathlib import Path

from weft.settings import setting


@dataclass(frozen=True, kw_only=True)
class SshSettings:
    """How the driver speaks to hosts that it may use as machines."""

    ssh_hosts_file: Path | None = setting(
        None, "a file in TOML that lists hosts with their addresses and public keys"
    )
    ssh_identity: Path | None = setting(
        None, "file of the private key with which the driver logs in on the hosts"
    )
    ssh_connect: str | None = setting(
        None, "the address at which the hosts reach the api, as https://weft.example.org"
    )
    ssh_directory: str = setting(
        ".weft-machines",
        "directory on the hosts for machines; without a slash before it, in the account's home",
    )
    ssh_python: str = setting("python3", "a Python 3.9 or newer on the hosts")
    ssh_answer_s: float = setting(
        10.0, "seconds after which a host counts as unanswered", within=(1, 60)
    )
