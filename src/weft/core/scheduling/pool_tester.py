"""The testers `pool` and `gateway`: what a job may ask of a pool, and whether a gateway's engine
answers. The driver asks the database for both, because it may not reach the engine.
"""

from collections.abc import Mapping
from typing import Final

from weft.core.billing.resources import parse_cpu_m

GATEWAY: Final = "gateway"
"""The name of the tester, and of its parameter: the gateway's worker."""


def read_gateway_ask(parameters: Mapping[str, str]) -> str:
    """Return the name of the gateway. Raise `ValueError` with a text for the owner of the job."""
    if parameters.keys() != {GATEWAY}:
        raise ValueError(f"the tester {GATEWAY} needs the parameter {GATEWAY!r}, and no other")
    return parameters[GATEWAY]


POOL: Final = "pool"
"""The name of the tester."""


def read_pool_ask(parameters: Mapping[str, str]) -> tuple[str, int]:
    """Return the name of the pool, and the free mCPU that one of its workers must have. Raise
    `ValueError` with a text for the owner of the job.
    """
    for name in parameters:
        if name not in {"pool", "cpu"}:
            raise ValueError(f"the tester {POOL} has no parameter {name!r}")
    if "pool" not in parameters:
        raise ValueError(f"the tester {POOL} needs the parameter 'pool'")
    cpu = parameters.get("cpu")
    return parameters["pool"], 0 if cpu is None else parse_cpu_m(cpu)
