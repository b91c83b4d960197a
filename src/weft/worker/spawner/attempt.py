"""One attempt as the spawner knows it."""

from dataclasses import dataclass, field

from weft.core.states import AttemptKey
from weft.wire.spawner import StartProcess
from weft.worker.spawner.capacity import Taken
from weft.worker.spawner.loop import LoopTimer
from weft.worker.spawner.output import Output
from weft.worker.spawner.prepared import Prepared


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
