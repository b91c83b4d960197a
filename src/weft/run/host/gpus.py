"""The GPUs that a worker gives to jobs."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from weft.core.scheduling.offers import parse_gpus, parse_offers
from weft.settings import InvalidSetting, Settings

_DEVICE = re.compile(r"nvidia([0-9]+)")


def gpus_of(settings: Settings) -> tuple[str, ...]:
    """Return their ids: those of the settings, else those of the host, as far as this process may
    use them. Raise `InvalidSetting`.
    """
    gpus = parse_gpus(settings.worker_gpus)
    count = parse_offers(settings.worker_offers).get("gpu")
    if isinstance(count, int) and gpus is not None and count != len(gpus):
        raise InvalidSetting(
            f"worker_offers says gpu={count}, worker_gpus names {len(gpus)}",
            detail="The worker offers the GPUs that it can hand out, no others.",
            hint="Leave gpu out of worker_offers.",
        )
    if gpus is not None:
        return tuple(gpus)
    found = found_gpus(os.environ, Path("/dev")) if settings.runner == "spawner" else ()
    if not isinstance(count, int):
        return found
    return found[:count] if len(found) >= count else tuple(map(str, range(count)))


def found_gpus(environment: Mapping[str, str], devices: Path) -> tuple[str, ...]:
    """Return the ids of this host's GPUs that this process may use."""
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        try:
            return tuple(parse_gpus(visible) or ()) if visible else ()
        except ValueError:  # as -1: none
            return ()
    numbers = [
        int(match[1]) for path in devices.iterdir() if (match := _DEVICE.fullmatch(path.name))
    ]
    return tuple(map(str, sorted(numbers)))
