"""Production lines: jobs of what sources find, and sinks that are told of their results."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "line": Command(
            "weft.extensions.lines.commands.line:app",
            "Apply the file of a production line, and set statuses.",
        ),
        "source": Command(
            "weft.extensions.lines.commands.source:app",
            "Show what production lines read, and what they found.",
        ),
        "series": Command(
            "weft.extensions.lines.commands.series:app",
            "Show items of a source that follow each other.",
        ),
        "lifecycle": Command(
            "weft.extensions.lines.commands.line:lifecycle_app",
            "Show the statuses of a line, and which may follow which.",
        ),
    },
    api="weft.extensions.lines.api:PART",
    beside_api="weft.extensions.lines.calls.source_items:SourceItems",
    evaluates="weft.extensions.lines.rules.setup:parse_each_setup",
    kinds="weft.extensions.lines",
    loops="weft.extensions.lines.loops.sources:LOOPS",
)
