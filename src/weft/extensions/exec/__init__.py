"""`weft exec`: a command beside a running job, as its user and in its place."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "exec": Command(
            "weft.extensions.exec.command:exec_", "Run a command beside a running job."
        )
    },
    api="weft.extensions.exec.routes:PART",
)
