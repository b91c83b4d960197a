"""Settings of the runner `slurm`."""

from dataclasses import dataclass
from pathlib import Path

from weft.settings import setting


@dataclass(frozen=True, kw_only=True)
class SlurmSettings:
    """How a gateway, or the driver for pilots, speaks to Slurm."""

    slurm_directory: Path | None = setting(
        None,
        "where jobs and their output are; the nodes see it, and so does the gateway or the login "
        "node (default: in the home)",
    )
    slurm_conf: Path | None = setting(
        None, "Slurm's configuration (default: what SLURM_CONF names, or Slurm's own place)"
    )
    slurm_login: str = setting(
        "", "login node on which Slurm's commands run, as USER@HOST:PORT (default: this host)"
    )
    slurm_login_host: str = setting(
        "", "public key that the login node must have: ssh-ed25519 AAAA…"
    )
    slurm_login_identity: Path | None = setting(
        None, "file of the private key with which the gateway logs in there"
    )
    slurm_connect: str | None = setting(
        None, "the address at which pilots on the nodes reach the api, as https://weft.example.org"
    )
    slurm_options: str = setting(
        "", "further words for each sbatch: --partition=long --account=climate"
    )
    slurm_choices: str = setting(
        "",
        "what jobs may choose by `engine`, as patterns of a shell: partition=long,account=* "
        "(default: nothing)",
    )
    slurm_look_s: float = setting(
        1.0, "seconds between looks at Slurm's queue, while attempts are there", within=(0.2, 600)
    )
    slurm_array_max: int = setting(1000, "attempts in one array of Slurm's", within=(1, 100_000))
    slurm_answer_s: float = setting(
        30.0, "seconds after which a command of Slurm's counts as unanswered", within=(1, 600)
    )
    slurm_missing_s: float = setting(
        60.0,
        "seconds after which an attempt that neither Slurm nor its accounting knows is gone",
        within=(1, 86_400),
    )
