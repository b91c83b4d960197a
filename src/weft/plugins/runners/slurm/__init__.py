"""The runner `slurm`: an attempt is a task of a job array on a cluster that Slurm manages.

The gateway and the nodes share a directory, which holds scripts, output and ends. Attempts outlive
the gateway; Slurm's own retries are off. It must not start a job's process itself.
"""

from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.handles import Handles
from weft.plugins.runners.remote.tag import tag_of
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
