"""What a job of Hail asks for: cores, memory by class or in bytes, storage."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from weft_hail.requests import Refused, bad_request
from weft_hail.shapes import BYTES, CPU, MEMORY_CLASSES

CLOUD: Final = "local"
REGION: Final = "local"
_MIB: Final = 1 << 20
_GIB: Final = 1 << 30
_CORE_MEMORY: Final = {
    "lowmem": Decimal("0.9"),
    "standard": Decimal("3.75"),
    "highmem": Decimal("6.5"),
}
"""GiB for each core of the collections' machines."""
_COLLECTIONS: Final = {"lowmem": "highcpu", "standard": "standard", "highmem": "highmem"}
COLLECTIONS: Final[Mapping[str, tuple[float, float | None]]] = {
    "highcpu": (0, 921.6),
    "standard": (921.6, 3840),
    "highmem": (3840, None),
}
"""More than how many MiB for each core the jobs of a collection have, and up to how many."""
_UNASKED: Final = {
    "cpu": "1",
    "memory": "standard",
    "storage": "0Gi",
    "preemptible": True,
    "machine_type": None,
}
_CORES_MAX: Final = 16
_STORAGE_MAX: Final = 64 * 1024 * _GIB
_QUARTERS_OF_CORE: Final = 250
_DIGITS_MAX: Final = 30
_UNITS: Final = {
    prefix + suffix: base**power
    for suffix, base in (("", 1000), ("i", 1024))
    for power, prefix in enumerate("KMGTP", start=1)
}
_CPU: Final = re.compile(CPU, re.ASCII)
_BYTES: Final = re.compile(BYTES, re.ASCII)


@dataclass(frozen=True)
class Asked:
    """What a job asks for, in the units of weft."""

    cpu_m: int
    memory_bytes: int
    storage_bytes: int
    collection: str

    @property
    def is_too_large(self) -> bool:
        """Say whether no machine of Hail would hold it."""
        largest = int(_CORE_MEMORY["highmem"] * _CORES_MAX * _GIB)
        is_wide = self.cpu_m > _CORES_MAX * 1000 or self.memory_bytes > largest
        return is_wide or self.storage_bytes > _STORAGE_MAX

    @property
    def document(self) -> dict[str, Any]:
        """Return the resources as a document of weft has them."""
        cpu, storage = f"{self.cpu_m}m", self.storage_bytes
        return {"cpu": cpu, "memory": self.memory_bytes, "storage": storage}


def asked_of(spec: Mapping[str, Any], job: str) -> Asked:
    """Return what a job asks for; `job` names it in a refusal. Raise `Refused`."""
    resources = spec.get("resources") or {}
    cpu, memory = resources.get("cpu", "1"), resources.get("memory", "standard")
    asked = _asked(cpu, memory, resources.get("storage", "0Gi"))
    if asked is None:
        raise bad_request(
            f"bad resource request for job {job}: cpu must be a power of two with a min of 0.25; "
            f"found {cpu}."
        )
    if asked.is_too_large:
        raise unsatisfiable(spec, job)
    if "machine_type" in resources:
        raise bad_request(
            f"bad resource request for job {job}: machine_type is not supported here; "
            "ask for cpu and memory"
        )
    return asked


@lru_cache(maxsize=1024)
def _asked(cpu: str, memory: str, storage: str) -> Asked | None:
    """Return what these words ask for; None: the cores are no power of two."""
    cpu_m = _cpu_m(cpu)
    if not _is_power_of_two(cpu_m):
        return None
    if memory in MEMORY_CLASSES:
        memory_bytes = int(_CORE_MEMORY[memory] * _GIB * cpu_m / 1000)
        collection = _COLLECTIONS[memory]
    else:
        memory_bytes = _bytes(memory)
        collection = collection_of(memory_bytes, cpu_m)
    return Asked(cpu_m, max(memory_bytes, _MIB), _bytes(storage), collection)


def unsatisfiable(spec: Mapping[str, Any], job: str) -> Refused:
    """Return that no worker is large enough for a job."""
    resources = spec.get("resources") or {}
    named = {**_UNASKED, **{name: resources[name] for name in _UNASKED if name in resources}}
    asked = ", ".join(f"{name}={value}" for name, value in named.items())
    return bad_request(
        f"resource requests for job {job} are unsatisfiable: cloud={CLOUD}, {asked}"
    )


def _cpu_m(text: str) -> int:
    match = _CPU.fullmatch(text)
    assert match is not None, "the shape of the document was checked"
    if len(match[1]) > _DIGITS_MAX:
        return 0
    return int(Decimal(match[1]) * (1 if match[2] else 1000))


def _is_power_of_two(cpu_m: int) -> bool:
    quarters, rest = divmod(cpu_m, _QUARTERS_OF_CORE)
    return rest == 0 and quarters > 0 and quarters & (quarters - 1) == 0


def _bytes(text: str) -> int:
    match = _BYTES.fullmatch(text)
    assert match is not None, "the shape of the document was checked"
    if len(match[1]) > _DIGITS_MAX:
        return _STORAGE_MAX + 1
    return int(Decimal(match[1]) * (_UNITS[match[2]] if match[2] else 1))


def collection_of(memory_bytes: int, cpu_m: int) -> str:
    """Return the cheapest collection whose machines have as much for these cores."""
    for name in MEMORY_CLASSES:
        if memory_bytes <= _CORE_MEMORY[name] * _GIB * cpu_m / 1000:
            return _COLLECTIONS[name]
    return _COLLECTIONS["highmem"]
