"""The runner `slurm`: an attempt is a task of a job array on a cluster that Slurm manages.

The gateway and the nodes share a directory, which holds scripts, output and ends. Attempts outlive
the gateway; Slurm's own retries are off. It must not start a job's process itself.
"""

import secrets
from pathlib import Path

from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.handles import Handles
from weft.plugins.runners.slurm.commands import SlurmCommands
from weft.plugins.runners.slurm.engine import SlurmEngine
from weft.plugins.runners.slurm.folder import SlurmFolder
from weft.plugins.runners.slurm.settings import SlurmSettings
from weft.ports.runner import RunnerSite


def open_slurm(site: RunnerSite) -> RemoteRunner:
    """Return the gateway of this worker to Slurm."""
    settings = site.section(SlurmSettings)
    tag = tag_of(site.state)
    top = settings.slurm_directory or site.state / "slurm"
    engine = SlurmEngine(
        SlurmCommands(settings), SlurmFolder(top / tag), settings, site.limits, tag=tag
    )
    return RemoteRunner(engine, Handles(site.state), site.log_writer)


def tag_of(state: Path) -> str:
    """Return what the names of this gateway's arrays have in common, and no other's: clusters
    are shared, and batches of another database have the same numbers.
    """
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = state / "tag"
    if not path.exists():
        temporary = path.with_name(".tag")
        temporary.write_text(secrets.token_hex(6))
        temporary.replace(path)
    return path.read_text()
