"""Applications: folders with a wrapper, which jobs run with parameters."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "app": Command(
            "weft_apps.command:app",
            "Add, list and remove applications, which jobs run.",
        )
    },
    api="weft_apps.routes:PART",
    evaluates="weft_apps.calls:described_each",
    sql="weft_apps",
)
