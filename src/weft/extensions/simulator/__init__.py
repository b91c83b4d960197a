"""`weft simulate`: what a pool would have done with a recorded workload, in virtual time.

It meets the house in the rules that decide in production (`core/`), which `model/` runs on a clock
of its own. Walk: `command.simulate` → `model.pool_run` → `model.report`.
"""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "simulate": Command(
            "weft.extensions.simulator.command:simulate",
            "Run a recorded workload on a pool, in virtual time.",
        )
    }
)
