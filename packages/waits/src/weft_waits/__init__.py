"""`weft answer`: jobs that wait for a person or an event get their answers."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "answer": Command("weft_waits.command:answer", "Answer a job that waits for a person.")
    },
    api="weft_waits.api:PART",
    evaluates="weft.submission.waits:misfits_each",
    sql="weft_waits",
)
