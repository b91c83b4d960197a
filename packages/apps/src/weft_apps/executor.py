"""The executor `app`: a process that begins in a copy of an application's folder, and runs its
wrapper there.

Values of parameters are variables of the job. Neither they nor names of files are ever part of a
text that a shell reads.
"""

import msgspec

from weft.core.errors import WeftError
from weft.plugins.executors.job_environment import SHELL
from weft.plugins.executors.process import ProcessExecutor
from weft.ports.executor import ToStart
from weft.wire.spawner import StartProcess

_COPY_AND_RUN = 'cp -R -- "$0/." . && exec bash -- "$1"'


class AppExecutor(ProcessExecutor):
    """Turn the spec of an application's job into one process."""

    def start_of(self, attempt: ToStart) -> StartProcess:
        """Return the process. Raise `WeftError` if the agent has not unpacked the folder."""
        app = attempt.spec.app
        if app is None or app.folder is None:
            raise WeftError("its application is not on this host")
        command = (SHELL, "-c", _COPY_AND_RUN, app.folder, app.wrapper)
        spec = msgspec.structs.replace(attempt.spec, command=command)
        return super().start_of(attempt._replace(spec=spec))
