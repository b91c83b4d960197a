"""The settings of a machine's worker, as variables of its environment."""

from collections.abc import Mapping

from weft.core.billing.resources import MIB
from weft.ports.provider import WantedMachine
from weft.settings import variable_of


def worker_variables(machine: WantedMachine, **more: str) -> dict[str, str]:
    """Return what each provider tells the worker of a machine, and `more` settings."""
    flavour = machine.flavour
    settings: Mapping[str, str] = {
        "pool": machine.pool,
        "worker_name": machine.name,
        "worker_cpu_m": str(flavour.cpu_m),
        "worker_memory_bytes": str(flavour.memory_mib * MIB),
        "worker_labels": ",".join(f"{name}={word}" for name, word in machine.labels.items()),
        "worker_offers": ",".join(f"{name}={n}" for name, n in flavour.countables.items()),
        **({"worker_walltime_s": str(flavour.walltime_s)} if flavour.walltime_s else {}),
        **({"worker_slots": str(machine.options["slots"])} if "slots" in machine.options else {}),
        **more,
    }
    return {variable_of(name): value for name, value in settings.items()}
