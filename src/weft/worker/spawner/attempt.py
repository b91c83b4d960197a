"""One attempt as the spawner knows it, and what all together may reserve."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from weft.core.states import AttemptKey
from weft.wire.spawner import StartProcess
from weft.worker.spawner.loop import LoopTimer
from weft.worker.spawner.output import Output
from weft.worker.spawner.prepared import Prepared

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


@dataclass(eq=False, slots=True)
class Series:
    """The samples of one attempt so far."""

    base_ms: int = 0
    """CPU time that its process had used before: a warm one serves many attempts."""
    cpu_ms: int = 0
    """The largest so far: the time of a process that nobody waits for is not seen again."""
    count: int = 0
    step: int = 1
    """Every how many periods a sample is taken; doubled when the file is full."""
    waited: int = 0


@dataclass(eq=False, slots=True)
class SpawnerAttempt:
    """An attempt from its arrival until its end is acknowledged."""

    request: StartProcess
    environment: dict[str, str]
    key: AttemptKey = field(init=False)
    definition: tuple[int, bytes] | None = None
    """The function that it calls: the job that carried it, and the definition itself."""
    result: bytes = b""
    """The result of a call, if it is short."""
    queued: bool = True
    prepared: Prepared | None = None
    """What was prepared for its start while it waits."""
    starting: bool = False
    """Whether a thread is starting it now."""
    kill_wanted: tuple[int, int] | None = None
    """Reason and grace in ms of a kill that arrived while it was being started."""
    pid: int = 0
    pidfd: int = -1
    stdin_fd: int = -1
    stdout_fd: int = -1
    stderr_fd: int = -1
    words_fd: int = -1
    cgroup_fd: int = -1
    why_fd: int = -1
    """A file with words for its sandbox, and the entrance of its cgroup, until it starts; and
    where a process of an account says why its program could not be run.
    """
    cgroup: str | None = None
    """The directory of its cgroup, until that is removed."""
    started_ns: int = 0
    ended_ns: int = 0
    watched: bool = False
    output: Output | None = None
    output_complete: bool = False
    taken: Taken = field(default_factory=Taken)
    gpu_variables: dict[str, str] = field(default_factory=dict)
    """They win over its own."""
    time_limit: LoopTimer | None = None
    extra_ms: int = 0
    """By how much its time limit was extended."""
    cwd: str | None = None
    checkpoint: str | None = None
    """The directory for what its job keeps between attempts."""
    memory_files: str | None = None
    """The directory of its `request.memory_files`."""
    script_path: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    failure: int | None = None
    message: str = ""
    killed_for: int | None = None
    kill_due_ns: int = 0
    """When its processes are killed; 0: they are not."""
    asked: set[int] = field(default_factory=set)
    """The processes that have got SIGTERM. A second one would end their clean-up."""
    grace_over: bool = False
    cpu_ms: int = 0
    memory_peak_bytes: int = 0
    strays: int = 0
    series: Series | None = None
    """What is known of its samples; None: none was taken yet."""

    def __post_init__(self) -> None:
        self.key = self.request.key
