"""Messages between a worker's agent and its spawner, over one Unix stream socket.

A message is a length of four bytes (big endian) and that many bytes of msgpack: an `AgentMessage`
to the spawner, a `SpawnerMessage` back. All times are nanoseconds of `CLOCK_MONOTONIC`, which both
processes share; that of `Renew` is one of `CLOCK_BOOTTIME`.

The spawner keeps every `ProcessEnd` until the agent acknowledges it, so an agent may die at any
moment: the next one sends `Hello` and learns which attempts wait, run or have ended.

The agent sends processes in advance. They wait in the spawner, which starts them in order of
arrival as soon as their reservations fit: between the end of one process and the start of the
next, it asks nobody.
"""

import struct

import msgspec

from weft.core.states import AttemptKey

PROTOCOL_VERSION = 5
ENDS = ".ends"
"""Ends the name of the file beside the lock: what a `Welcome` would say of ends, many times."""
HEADER = struct.Struct("!I")
MESSAGE_BYTES_MAX = 64 * 1024 * 1024
USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where jobs look for programs whose environment is not that of their caller."""
CONTAINER_WORK = "/weft/work"
"""Where a container has the directory of its job. Its other own files are beside it."""


class WarmCall(msgspec.Struct, frozen=True, array_like=True):
    """A call in a warm process of the batch, which `argv` starts where none is free."""

    body: bytes
    """An encoded `wire.function.CallBody`."""
    definition: int | None = None
    """Which of the message's `definitions` it calls; None: the body names the function."""


class Account(msgspec.Struct, frozen=True, array_like=True):
    """A Unix account, never that of root."""

    uid: int
    gid: int
    groups: tuple[int, ...] = ()
    """Further groups."""
    name: str = ""
    home: str = "/"


class Cgroup(msgspec.Struct, frozen=True, array_like=True):
    """A cgroup of version 2 that is made for one process and all that it starts."""

    parent: str
    """The directory below which it is made."""
    limits: tuple[tuple[str, str], ...]
    """Files of the cgroup, and what is written to them."""


class StartProcess(msgspec.Struct, frozen=True, array_like=True):
    """Start one process. Neither `argv` nor `script`: a no-op, which succeeds at once."""

    key: AttemptKey
    argv: tuple[str, ...]
    env: dict[str, str]
    """The process's own variables; they win over those of its `environment`."""
    cwd: str | None
    """None: an empty directory of its own, which the spawner makes and removes."""
    stdin: str | None
    """None: /dev/null."""
    timeout_ms: int | None
    grace_ms: int
    """From SIGTERM to SIGKILL."""
    stream_bytes_max: int
    """A longer stream keeps its first `stream_head_bytes` and its last bytes."""
    stream_head_bytes: int
    cpu_m: int = 0
    """Reserved while it runs, out of the capacity in `Hello`. If it is more than that, the
    process runs alone."""
    memory_mib: int = 0
    environment: int = 0
    """Which of the message's `environments` it starts from."""
    script: str | None = None
    """A program to be written to a file and run, with `argv` as its arguments."""
    warm: WarmCall | None = None
    """Call a function instead; `env` holds for the call, `environment` for the process."""
    umask: int | None = None
    """The file mode mask of the process; None: the spawner's."""
    gpu: int = 0
    """How many ids of `Hello.gpus` it gets for itself while it runs."""
    memory_files: dict[str, str] | None = None
    """Contents by name of files that only it may read, in a directory of its own on a memory file
    system. A spawner whose `Welcome` does not say that it makes them must not get any.
    """
    sandbox: tuple[str, ...] | None = None
    """The command that makes its sandbox, to which the spawner adds what is the job's own; for
    `Welcome`, see `memory_files`."""
    account: Account | None = None
    """Under which account it runs; None: the spawner's. For `Welcome`, see `memory_files`."""
    hidden_files: tuple[str, ...] = ()
    """What its sandbox does not show, as far as it is there when the process starts."""
    own_paths: tuple[str, ...] = ()
    """Where its own directory is seen besides, in its sandbox."""
    cgroup: Cgroup | None = None
    """None: it stays in the cgroup of the spawner. For `Welcome`, see `memory_files`."""
    is_contained: bool = False
    """Its sandbox is a container, which shows nothing of the host: what is the job's own is at
    fixed places there."""
    note: str = ""
    """What its end says besides: the image of a container."""
    directory: str | None = None
    """Its own directory, which the agent has made and removes; None: as `cwd` says."""
    passes: bool = False
    """It starts as soon as there is room, also before processes that were sent earlier."""
    merged: bool = False
    """Both streams are one pipe, so that they are kept in the order in which they were written."""


class WarmLimits(msgspec.Struct, frozen=True, array_like=True):
    """How long a warm process is kept."""

    calls_max: int = 10_000
    memory_mib_max: int = 1024
    """A process that holds more after a call is not reused."""
    idle_ms: int = 30_000


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """First message of an agent: the spawner serves this connection now, and closes older ones."""

    cpu_m: int
    """The capacity that all processes together may reserve from now on."""
    memory_mib: int
    version: int = PROTOCOL_VERSION
    warm: WarmLimits = WarmLimits()
    gpus: tuple[str, ...] = ()
    """Ids of the GPUs that it hands out. Those of its first agent count: like what the worker
    offers, they do not change while the spawner lives."""
    sample_ms: int = 0
    """How often it looks what running attempts use; 0: never."""
    samples_max: int = 1000
    """How many samples of an attempt it keeps; of more it drops every second one."""


class Start(msgspec.Struct, frozen=True, tag="start"):
    """Start these processes in order, each as soon as what it reserves is free; those that pass
    others have an order of their own.

    A key that the spawner knows already is ignored.
    """

    environments: list[dict[str, str]]
    """Variables that many processes share, so that they are sent once."""
    processes: list[StartProcess]
    definitions: list[tuple[int, bytes]] = []
    """Functions that many calls share: the job of the batch that brought it, and an encoded
    `wire.function.Definition`."""


class Kill(msgspec.Struct, frozen=True, tag="kill"):
    """End these attempts: SIGTERM to the whole tree, after `grace_ms` SIGKILL; unknown keys are
    ignored.

    One that was not started yet ends at once.
    """

    keys: list[AttemptKey]
    reason: int
    """`core.states.Reason`: why; the spawner gives it back in `ProcessEnd.killed_for`."""
    grace_ms: int


class Withdraw(msgspec.Struct, frozen=True, tag="withdraw"):
    """Forget those of these attempts that were not started; `Report.withdrawn` names them."""

    keys: list[AttemptKey]


class Command(msgspec.Struct, frozen=True, tag="command"):
    """Tell an attempt something; `Report.obeyed` says what came of it. A spawner whose `Welcome`
    does not say that it takes commands must not get one.
    """

    number: int
    key: AttemptKey
    signal: int | None = None
    """For its first process."""
    extra_ms: int = 0
    """Without a signal: by how much longer than `timeout_ms` it may run, in all."""


class Acknowledge(msgspec.Struct, frozen=True, tag="ack"):
    """The database has recorded the end of these attempts: forget them."""

    keys: list[AttemptKey]


class Renew(msgspec.Struct, frozen=True, tag="renew"):
    """The database has just confirmed this worker. Without another `Renew` before `until_ns`, kill
    everything and start nothing: by then the jobs may run elsewhere.
    """

    until_ns: int
    """By `CLOCK_BOOTTIME`, which goes on while the host is suspended; 0: no limit."""
    database: str = ""
    """The socket of a PostgreSQL on this host. While that is down, jobs continue: it reassigns
    none."""
    return_ns: int = 0
    """How long the agent may take to reach the database again once it is back."""


class Quit(msgspec.Struct, frozen=True, tag="quit"):
    """Kill everything that runs, at once, and exit."""


class Abandon(msgspec.Struct, frozen=True, tag="abandon"):
    """This agent goes, and perhaps none comes back: close its connection, and exit as soon as
    nothing waits or runs and no end is left that the database may still take. The next `Hello`
    ends this. A spawner that does not know it only closes the connection.
    """


class LiveProcess(msgspec.Struct, frozen=True, array_like=True):
    """A live process."""

    key: AttemptKey
    pid: int
    started_ns: int


class ProcessEnd(msgspec.Struct, frozen=True, array_like=True):
    """A process that ended, or could not be started.

    Exactly one of `exit_code`, `signal` and `failure` is set; none of them if it was killed before
    it was started.
    """

    key: AttemptKey
    started_ns: int
    """0: it was never started."""
    ended_ns: int
    exit_code: int | None = None
    signal: int | None = None
    failure: int | None = None
    """`core.states.Reason` if it could not be started or kept: NO_PROGRAM, BAD_SPEC, DISK,
    SYSTEM."""
    message: str = ""
    """Details for people, such as the name of a missing program or of a full file system."""
    killed_for: int | None = None
    """`core.states.Reason` if the spawner or a `Kill` ended it: TIMEOUT, CANCELLED, PREEMPTED,
    LOST."""
    cpu_ms: int = 0
    memory_peak_bytes: int = 0
    stdout_bytes: int = 0
    """How much the job wrote, including bytes that were cut."""
    stderr_bytes: int = 0
    truncated: bool = False
    segment: int | None = None
    """Where a short output was appended: the segment's number and the byte offset of the record;
    None: a file of its own if it wrote anything at all.
    """
    offset: int | None = None


class Welcome(msgspec.Struct, frozen=True, tag="welcome"):
    """The answer to `Hello`."""

    incarnation: str
    """A random name, made when this spawner started. The fence of all its attempts."""
    pid_namespace: bool
    """True: nothing of a job can outlive this spawner."""
    queued: list[AttemptKey]
    """Sent by an agent and not started yet, in order."""
    live: list[LiveProcess]
    ended: list[ProcessEnd]
    version: int = PROTOCOL_VERSION
    uses_accounts: bool = False
    """It was started for processes under other accounts."""


class Report(msgspec.Struct, frozen=True, tag="report"):
    """What happened since the last report. Every `ProcessEnd` comes again after the next `Hello`
    until acknowledged.
    """

    started: list[LiveProcess]
    """Processes that have run long enough to be worth a report; short ones are in `ended`
    only."""
    ended: list[ProcessEnd]
    withdrawn: list[AttemptKey] = []
    obeyed: list[tuple[int, str]] = []
    """Commands by number, and why they were not obeyed; empty: they were."""


class SpawnerLock(msgspec.Struct, frozen=True):
    """The content of the file that a spawner keeps locked while it lives.

    The kernel reuses process ids and inode numbers, so none of them alone identifies a process.
    """

    incarnation: str
    pid: int
    """As it sees itself: 1 in a PID namespace of its own."""
    pid_namespace_inode: int
    boot_id: str
    """The boot during which it started."""
    started_ticks: int
    """When it started, as in field 22 of `/proc/PID/stat`."""


AgentMessage = Hello | Start | Kill | Command | Withdraw | Acknowledge | Renew | Quit | Abandon
SpawnerMessage = Welcome | Report


class Framer:
    """Cut a stream of bytes into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Take what was read and return the messages that are whole. Raise `ValueError` for an
        impossible length.
        """
        self._buffer += data
        messages: list[bytes] = []
        position = 0
        while len(self._buffer) - position >= HEADER.size:
            (length,) = HEADER.unpack_from(self._buffer, position)
            if length > MESSAGE_BYTES_MAX:
                raise ValueError(f"a message of {length} bytes")
            end = position + HEADER.size + length
            if end > len(self._buffer):
                break
            messages.append(bytes(self._buffer[position + HEADER.size : end]))
            position = end
        del self._buffer[:position]
        return messages


_ENCODER = msgspec.msgpack.Encoder()


def frame(message: AgentMessage | SpawnerMessage) -> bytes:
    """Encode one message with its length."""
    body = _ENCODER.encode(message)
    return HEADER.pack(len(body)) + body
