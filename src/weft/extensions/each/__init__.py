"""`weft each`: run a command once for each line of input, as xargs and GNU parallel do.

It meets the house in the client, which submits and follows its batch, and in the command line's
input and terminal. `rules/` decides, without I/O; `parts/` reads, submits and prints;
`command.py` is the command. Walk: `command.each` → `parts.each_input` → `parts.feed` → the client.
"""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "each": Command(
            "weft.extensions.each.command:each", "Run a command once for each line of input."
        )
    }
)
