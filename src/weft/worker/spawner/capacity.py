"""The CPU, memory and GPUs that all processes together may reserve."""

from collections.abc import Sequence
from typing import Final, NamedTuple

VISIBLE: Final = ("CUDA_VISIBLE_DEVICES", "WEFT_GPUS")
"""Variables that name the GPUs of a job; empty: it has none."""


class Taken(NamedTuple):
    """A reservation."""

    cpu_m: int = 0
    memory_mib: int = 0
    gpus: tuple[str, ...] = ()


class Capacity:
    """An account of CPU, memory and ids of GPUs. Reservations never exceed the capacity."""

    def __init__(self, cpu_m: int = 0, memory_mib: int = 0) -> None:
        self.cpu_m = cpu_m
        self.memory_mib = memory_mib
        self.cpu_m_taken = 0
        self.memory_mib_taken = 0
        self.gpus: tuple[str, ...] | None = None
        self._gpus_free: list[str] = []

    @property
    def memory_mib_free(self) -> int:
        """Return the memory that is not reserved."""
        return self.memory_mib - self.memory_mib_taken

    def resize(self, cpu_m: int, memory_mib: int, gpus: Sequence[str] = ()) -> None:
        """Change the capacity; existing reservations stay until they are given back. The GPUs are
        those of the first call: what this worker offers of them does not change either.
        """
        self.cpu_m = cpu_m
        self.memory_mib = memory_mib
        if self.gpus is None:
            self.gpus = tuple(gpus)
            self._gpus_free = list(gpus)

    def take(self, cpu_m: int, memory_mib: int, gpu: int = 0) -> Taken | None:
        """Make a reservation and return it, or `None` if there is not enough free capacity now.

        A request larger than the whole capacity takes all of it: it runs alone instead of never.
        """
        cpu_m = min(cpu_m, self.cpu_m)
        memory_mib = min(memory_mib, self.memory_mib)
        gpu = min(gpu, len(self.gpus or ()))
        cpu_m_after = self.cpu_m_taken + cpu_m
        memory_mib_after = self.memory_mib_taken + memory_mib
        if (
            cpu_m_after > self.cpu_m
            or memory_mib_after > self.memory_mib
            or gpu > len(self._gpus_free)
        ):
            return None
        self.cpu_m_taken = cpu_m_after
        self.memory_mib_taken = memory_mib_after
        gpus = tuple(self._gpus_free[:gpu])
        del self._gpus_free[:gpu]
        return Taken(cpu_m, memory_mib, gpus)

    def give_back(self, taken: Taken) -> None:
        """Free a reservation that `take` returned."""
        self.cpu_m_taken -= taken.cpu_m
        self.memory_mib_taken -= taken.memory_mib
        if taken.gpus:
            self._gpus_free.extend(taken.gpus)
            self._gpus_free.sort(key=(self.gpus or ()).index)

    def variables(self, gpus: Sequence[str] = ()) -> dict[str, str]:
        """Return the variables of a job that has these GPUs. Where there are any, they are hidden
        from a job that has none.
        """
        return dict.fromkeys(VISIBLE, ",".join(gpus)) if self.gpus else {}
