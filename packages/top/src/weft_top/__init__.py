"""`weft top`: workers, batches, jobs and their output, live in a terminal."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={"top": Command("weft_top.command:top", "Show workers and batches, live.")}
)
