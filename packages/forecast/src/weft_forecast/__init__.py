"""`weft when`: about when jobs start and end, and what they cost."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "when": Command(
            "weft_forecast.command:when", "Say when jobs start and end, and their cost."
        )
    },
    api="weft_forecast.calls:PART",
)
