"""The runner `slurm`: an attempt is a task of a job array on a cluster that Slurm manages.

The gateway and the nodes share a directory, which holds scripts, output and ends; or the gateway
reaches it, and Slurm, by ssh to a login node. Attempts outlive the gateway; Slurm's own retries
are off. It must not start a job's process itself.
"""

from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.handles import Handles, tag_of
from weft.ports.runner import RunnerSite
from weft_slurm.runner.commands import SlurmCommands
from weft_slurm.runner.engine import SlurmEngine
from weft_slurm.runner.files import SlurmFiles, StagedFiles
from weft_slurm.runner.folder import SharedFiles
from weft_slurm.runner.shell import LocalShell, Shell, login_of
from weft_slurm.settings import SlurmSettings


def open_slurm(site: RunnerSite) -> RemoteRunner:
    """Return the gateway of this worker to Slurm."""
    settings = site.section(SlurmSettings)
    tag = tag_of(site.state)
    shell: Shell
    files: SlurmFiles
    if settings.slurm_login:
        login = shell = login_of(settings)
        files = StagedFiles(login, f"{settings.slurm_directory}/{tag}")
    else:
        shell = LocalShell(settings)
        top = settings.slurm_directory or site.state / "slurm"
        files = SharedFiles(top / tag)
    engine = SlurmEngine(SlurmCommands(shell, settings), files, settings, site.limits, tag=tag)
    return RemoteRunner(
        engine, Handles(site.state), site.log_writer, site.worker, shell.close, site.limits
    )
