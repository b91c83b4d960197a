"""The login node of a cluster: who it is and how it is spoken to, by the settings."""

from weft.core.errors import Invalid
from weft.extensions.engines.slurm.runner.settings import SlurmSettings
from weft.plugins.runners.remote.ssh import Login, SshHost


def login_of(settings: SlurmSettings) -> Login:
    """Return the way to the login node. Raise `Invalid`."""
    if settings.slurm_directory is None or settings.slurm_login_identity is None:
        raise Invalid(
            "a login node needs slurm_directory and slurm_login_identity",
            hint="Name a directory of the cluster's side, and the file of the key that logs in.",
        )
    host = SshHost(
        title="the login node",
        address=settings.slurm_login,
        key=settings.slurm_login_host,
        identity=settings.slurm_login_identity,
        answer_s=settings.slurm_answer_s,
        named_in=("the setting slurm_login", "the setting slurm_login_host"),
        command_hint="Slurm's commands must be on the PATH of a session that runs a command.",
        file_hint="Look at `slurm_directory` there: its room, its quota, its owner.",
    )
    conf = settings.slurm_conf
    return Login(host, [] if conf is None else ["env", f"SLURM_CONF={conf}"])
