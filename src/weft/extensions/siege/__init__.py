"""`weft siege`, whose program is the package `weft-siege` (`integrations/siege`)."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "siege": Command(
            "weft_siege.command:siege", "Attack a weft of its own, and prove that nothing is lost."
        )
    }
)
