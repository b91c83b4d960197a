"""`weft simulate`: what a pool would have done with a recorded workload, in virtual time."""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "simulate": Command(
            "weft_simulator.command:simulate",
            "Run a recorded workload on a pool, in virtual time.",
        )
    }
)
