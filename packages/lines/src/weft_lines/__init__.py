"""Production lines: jobs of what sources find, and sinks that are told of their results."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "line": Command(
            "weft_lines.commands.line:app",
            "Apply the file of a production line, and set statuses.",
        ),
        "source": Command(
            "weft_lines.commands.source:app",
            "Show what production lines read, and what they found.",
        ),
        "series": Command(
            "weft_lines.commands.series:app",
            "Show items of a source that follow each other.",
        ),
        "lifecycle": Command(
            "weft_lines.commands.line:lifecycle_app",
            "Show the statuses of a line, and which may follow which.",
        ),
    },
    api="weft_lines.api:PART",
    beside_api="weft_lines.calls.source_items:SourceItems",
    evaluates="weft_lines.rules.setup:parse_each_setup",
    kinds="weft_lines",
    loops="weft_lines.loops.sources:LOOPS",
    sql="weft_lines",
)
