"""`weft exec` and `weft forward`: a command beside a running job, and a way to its ports."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "exec": Command("weft_exec.command:exec_", "Run a command beside a running job."),
        "forward": Command(
            "weft_exec.command:forward", "Reach a port of a running job from here."
        ),
    },
    api="weft_exec.routes:PART",
)
