"""The CPU and memory that all processes together may reserve."""


class Capacity:
    """An account of CPU and memory. Reservations never exceed the capacity."""

    def __init__(self, cpu_m: int = 0, memory_mib: int = 0) -> None:
        self.cpu_m = cpu_m
        self.memory_mib = memory_mib
        self.cpu_m_taken = 0
        self.memory_mib_taken = 0

    @property
    def memory_mib_free(self) -> int:
        """Return the memory that is not reserved."""
        return self.memory_mib - self.memory_mib_taken

    def resize(self, cpu_m: int, memory_mib: int) -> None:
        """Change the capacity; existing reservations stay until they are given back."""
        self.cpu_m = cpu_m
        self.memory_mib = memory_mib

    def take(self, cpu_m: int, memory_mib: int) -> tuple[int, int] | None:
        """Make a reservation and return it, or `None` if there is not enough free capacity now.

        A request larger than the whole capacity takes all of it: it runs alone instead of never.
        """
        cpu_m = min(cpu_m, self.cpu_m)
        memory_mib = min(memory_mib, self.memory_mib)
        cpu_m_after = self.cpu_m_taken + cpu_m
        memory_mib_after = self.memory_mib_taken + memory_mib
        if cpu_m_after > self.cpu_m or memory_mib_after > self.memory_mib:
            return None
        self.cpu_m_taken = cpu_m_after
        self.memory_mib_taken = memory_mib_after
        return cpu_m, memory_mib

    def give_back(self, taken: tuple[int, int]) -> None:
        """Free a reservation that `take` returned."""
        self.cpu_m_taken -= taken[0]
        self.memory_mib_taken -= taken[1]
