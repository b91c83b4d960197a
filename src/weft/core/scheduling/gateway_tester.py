"""The tester `gateway`: whether a gateway's engine answers. The driver asks the database, because
it may not reach the engine.
"""

from collections.abc import Mapping
from typing import Final

GATEWAY: Final = "gateway"
"""The name of the tester, and of its parameter: the gateway's worker."""


def read_gateway_ask(parameters: Mapping[str, str]) -> str:
    """Return the name of the gateway. Raise `ValueError` with a text for the owner of the job."""
    if parameters.keys() != {GATEWAY}:
        raise ValueError(f"the tester {GATEWAY} needs the parameter {GATEWAY!r}, and no other")
    return parameters[GATEWAY]
