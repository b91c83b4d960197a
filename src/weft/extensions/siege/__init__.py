"""`weft siege`: attack a weft of its own with faults from a seed, and prove what it promises.

It starts real processes and meets them as a user does, by the client and by HTTP. Walk:
`command.siege` → `attack` on a `fortress` (processes) with `faults` (the schedule) under `load`
(batches) → `checks`: what jobs wrote themselves (`evidence`) beside what the api answers.
"""

from weft.ports.extension import Command, Extension

EXTENSION = Extension(
    commands={
        "siege": Command(
            "weft.extensions.siege.command:siege",
            "Attack a weft of its own, and prove that nothing is lost.",
        )
    }
)
