"""Applications: folders with a wrapper, which jobs run with parameters."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "app": Command(
            "weft.extensions.apps.command:app",
            "Add, list and remove applications, which jobs run.",
        )
    },
    api="weft.extensions.apps.routes:PART",
    evaluates="weft.extensions.apps.calls:described_each",
)
