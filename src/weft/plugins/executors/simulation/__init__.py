"""The executor `simulation`: the job is a list of steps that the runner `simulation` takes."""

from weft.core.errors import Invalid
from weft.wire.documents.simulations import Step
from weft.wire.spec import JobSpec


class NoSimulation(Invalid, code="WORKER.NO_SIMULATION"):
    """A job of this executor whose spec has no simulation."""


class SimulationExecutor:
    """Return the steps of a spec."""

    runner = "simulation"

    def steps_of(self, spec: JobSpec) -> tuple[Step, ...]:
        """Return the steps. Raise `NoSimulation`."""
        if spec.simulation is None:
            raise NoSimulation(
                "the job has no simulation",
                detail="It names the executor `simulation`.",
                hint="Submit it with `simulation`, or without `executor`.",
            )
        return spec.simulation.steps
