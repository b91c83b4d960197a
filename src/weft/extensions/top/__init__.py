"""`weft top`: workers and batches, live, in a terminal."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={"top": Command("weft.extensions.top.command:top", "Show workers and batches, live.")}
)
