"""`weft top`: workers and batches, live, in a terminal.

It meets the house in the client, whose lists and events it shows. Walk: `command.top` →
`screen.program`, which reads keys and documents, → `screen.drawing`.
"""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={"top": Command("weft.extensions.top.command:top", "Show workers and batches, live.")}
)
