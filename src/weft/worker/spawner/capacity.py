"""What all processes together may reserve."""


class Capacity:
    """An account of cpu and memory. Never more is taken than there is."""

    def __init__(self, cpu_m: int = 0, memory_mib: int = 0) -> None:
        self.cpu_m = cpu_m
        self.memory_mib = memory_mib
        self.cpu_m_taken = 0
        self.memory_mib_taken = 0

    @property
    def memory_mib_free(self) -> int:
        """Return what nobody has taken."""
        return self.memory_mib - self.memory_mib_taken

    def resize(self, cpu_m: int, memory_mib: int) -> None:
        """Change what there is; what is taken stays taken until it is given back."""
        self.cpu_m = cpu_m
        self.memory_mib = memory_mib

    def take(self, cpu_m: int, memory_mib: int) -> tuple[int, int] | None:
        """Take a reservation and return what was taken, or `None` if it is not free now.

        One that is larger than everything takes everything, so it runs alone instead of never.
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
        """Free what `take` returned."""
        self.cpu_m_taken -= taken[0]
        self.memory_mib_taken -= taken[1]
