"""`weft exec` and `weft forward`: a command beside a running job, and a way to its ports."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "exec": Command(
            "weft.extensions.exec.command:exec_", "Run a command beside a running job."
        ),
        "forward": Command(
            "weft.extensions.exec.command:forward", "Reach a port of a running job from here."
        ),
    },
    api="weft.extensions.exec.routes:PART",
)
