"""`weft siege`: attack a weft of its own with faults from a seed, and prove what it promises."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "siege": Command(
            "weft_siege.command:siege", "Attack a weft of its own, and prove that nothing is lost."
        )
    }
)
