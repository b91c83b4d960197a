"""The worker of simulations: it has slots, and nothing of the host."""

from dataclasses import replace
from typing import Final

from weft.core.billing.resources import MIB
from weft.run.child import is_supervised
from weft.run.host.worker_name import worker_name
from weft.settings import Settings

RUNNER: Final = "simulation"


def workers_of(settings: Settings) -> list[Settings]:
    """Return the settings of each worker that this process is: in `weft up` one for simulations
    besides. They share a process, because a second one would have the memory of the first again.
    """
    if settings.runner == RUNNER:
        return [_simulating(settings)]
    if not is_supervised() or not settings.simulation_slots:
        return [settings]
    name = f"{worker_name(settings)}-{RUNNER}"
    return [settings, _simulating(replace(settings, worker_name=name, worker_slots=None))]


def _simulating(settings: Settings) -> Settings:
    """Return these settings without what is of the host. A simulated job reserves 1 mCPU and no
    memory: so each slot is one.
    """
    slots = settings.worker_slots or settings.simulation_slots or 1
    return replace(
        settings,
        runner=RUNNER,
        worker_slots=slots,
        worker_cpu_m=slots,
        worker_memory_bytes=MIB,
        worker_offers="",
        worker_gpus="none",
        sandbox="none",
        run_as="worker",
        job_limits="never",
        transports_file=None,
    )
