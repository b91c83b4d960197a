"""Chance in `interleavings`, of each concern by itself.

One more draw of one concern leaves those of the others as they were. Still, a seed is the same
world only while its draws and the decisions stay what they are.
"""

from random import Random


class Draws:
    """What one seed draws."""

    def __init__(self, seed: int) -> None:
        def of(concern: str) -> Random:
            return Random(f"{seed}:{concern}")  # noqa: S311 (no secret)

        self.steps, self.faults = of("steps"), of("faults")
        self.users, self.limits, self.questions = of("users"), of("limits"), of("questions")
        self.agents, self.ends, self.retries = of("agents"), of("ends"), of("retries")
        self.machines, self.drivers = of("machines"), of("drivers")
        self.conditions, self.gates = of("conditions"), of("gates")
