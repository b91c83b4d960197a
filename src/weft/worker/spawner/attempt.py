"""One attempt as the spawner knows it."""

from weft.core.attempt_key import AttemptKey
from weft.wire.spawner import StartProcess
from weft.worker.spawner.capacity import Taken
from weft.worker.spawner.loop import LoopTimer
from weft.worker.spawner.output import Output
from weft.worker.spawner.prepared import Prepared


class Series:
    """The samples of one attempt so far."""

    __slots__ = ("base_ms", "count", "cpu_ms", "step", "waited")

    def __init__(self, base_ms: int = 0) -> None:
        self.base_ms = base_ms
        """CPU time that its process had used before: a warm one serves many attempts."""
        self.cpu_ms = 0
        """The largest so far: the time of a process that nobody waits for is not seen again."""
        self.count = 0
        self.step = 1
        """Every how many periods a sample is taken; doubled when the file is full."""
        self.waited = 0


class SpawnerAttempt:
    """An attempt from its arrival until its end is acknowledged."""

    __slots__ = (
        "asked",
        "cgroup",
        "cgroup_fd",
        "checkpoint",
        "cpu_ms",
        "cwd",
        "definition",
        "ended_ns",
        "environment",
        "exit_code",
        "extra_ms",
        "failure",
        "gpu_variables",
        "grace_over",
        "key",
        "kill_due_ns",
        "kill_wanted",
        "killed_for",
        "memory_files",
        "memory_peak_bytes",
        "message",
        "output",
        "output_complete",
        "pid",
        "pidfd",
        "prepared",
        "queued",
        "request",
        "result",
        "script_path",
        "series",
        "signal",
        "started_ns",
        "starting",
        "stderr_fd",
        "stdin_fd",
        "stdout_fd",
        "strays",
        "taken",
        "time_limit",
        "watched",
        "why_fd",
        "words_fd",
    )

    def __init__(self, request: StartProcess, environment: dict[str, str]) -> None:
        self.request = request
        self.key: AttemptKey = request.key
        self.environment = environment
        self.definition: tuple[int, bytes] | None = None
        """The function that it calls: the job that carried it, and the definition itself."""
        self.result = b""
        """The result of a call, if it is short."""
        self.queued = True
        self.prepared: Prepared | None = None
        """What was prepared for its start while it waits."""
        self.starting = False
        """Whether a thread is starting it now."""
        self.kill_wanted: tuple[int, int] | None = None
        """Reason and grace in ms of a kill that arrived while it was being started."""
        self.pid = 0
        self.pidfd = self.stdin_fd = self.stdout_fd = self.stderr_fd = -1
        self.words_fd = self.cgroup_fd = self.why_fd = -1
        """A file with words for its sandbox, and the entrance of its cgroup, until it starts; and
        where a process of an account says why its program could not be run.
        """
        self.cgroup: str | None = None
        """The directory of its cgroup, until that is removed."""
        self.started_ns = self.ended_ns = 0
        self.watched = False
        self.output: Output | None = None
        self.output_complete = False
        self.taken = Taken()
        self.gpu_variables: dict[str, str] = {}
        """They win over its own."""
        self.time_limit: LoopTimer | None = None
        self.extra_ms = 0
        """By how much its time limit was extended."""
        self.cwd: str | None = None
        self.checkpoint: str | None = None
        """The directory for what its job keeps between attempts."""
        self.memory_files: str | None = None
        """The directory of its `request.memory_files`."""
        self.script_path: str | None = None
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.failure: int | None = None
        self.message = ""
        self.killed_for: int | None = None
        self.kill_due_ns = 0
        """When its processes are killed; 0: they are not."""
        self.asked: set[int] = set()
        """The processes that have got SIGTERM. A second one would end their clean-up."""
        self.grace_over = False
        self.cpu_ms = self.memory_peak_bytes = 0
        self.strays = 0
        self.series: Series | None = None
        """What is known of its samples; None: none was taken yet."""
