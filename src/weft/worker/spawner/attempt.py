"""One attempt as the spawner knows it."""

from typing import TYPE_CHECKING

from weft.core.attempt_key import AttemptKey
from weft.wire.spawner import StartProcess
from weft.worker.spawner.capacity import Taken
from weft.worker.spawner.loop import LoopTimer
from weft.worker.spawner.output import Output

if TYPE_CHECKING:
    from weft.worker.spawner.launch import Prepared
    from weft.worker.spawner.samples import Series


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
