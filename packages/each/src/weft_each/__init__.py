"""`weft each`: run a command once for each line of input, as xargs and GNU parallel do."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "each": Command("weft_each.command:each", "Run a command once for each line of input.")
    }
)
