"""`weft exec`: a command beside a running job, as its user and in its place.

Walk: `command.exec_` → `weft.client.exec` → `routes.exec_job`, which asks whether the caller may,
and adds an entry to the trail → `channel`: a socket of the job's spawner on this host, which gets
the ends of three pipes (`wire/exec.py`) → `worker/spawner/execs.py`. Bytes go from the command to
the api by the pipes alone, so that what nobody reads stops the command and nothing else.
"""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "exec": Command(
            "weft.extensions.exec.command:exec_", "Run a command beside a running job."
        )
    },
    api="weft.extensions.exec.routes:PART",
)
