"""Commands beside running jobs (`wire/exec.py`): children of the spawner in the place of a job.

They have its account, namespaces, cgroup, directory and environment, and end with it. No process
is signalled but those that are proved to be of a command: a child that was not waited for, its
group and descendants, and orphans with its mark.
"""

import os
import signal
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import msgspec

from weft.core.states import AttemptKey, Reason
from weft.wire.exec import BYTES_MAX, MARK, Begin, Begun, Ended, Refused
from weft.worker.spawner import sandboxed, tree
from weft.worker.spawner.attempt import SpawnerAttempt
from weft.worker.spawner.launch import Launcher, NoRoom
from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.posix_spawn import read_why
from weft.worker.spawner.programs import CannotStart
from weft.worker.spawner.running import Running

GRACE_NS: Final = 2_000_000_000
"""From SIGTERM to SIGKILL when the client goes away."""
REST_NS: Final = 10_000_000
"""Between two signals of one connection."""
COUNT_MAX: Final = 64
"""A tenant has at most half of them."""
_NOT_FOUND: Final = 127
_SIGNALLED: Final = 128
_STREAMS: Final = 3
_decode = msgspec.msgpack.Decoder(Begin | int).decode
_encode = msgspec.msgpack.Encoder().encode


@dataclass(eq=False, slots=True)
class _Exec:
    """One connection, and its command once there is one."""

    connection: socket.socket | None
    mark: str
    attempt: SpawnerAttempt | None = None
    """The one beside which it runs."""
    process: SpawnerAttempt | None = None
    """Itself, while it runs."""
    with_job: bool = False
    tenant_id: int = 0

    def send(self, *numbers: int) -> None:
        """Send signals to its process group, if it runs."""
        if self.process is not None:
            for number in numbers:
                tree.send_group(self.process.pid, number)


@dataclass(eq=False)
class Execs:
    """All commands of this spawner."""

    loop: EventLoop
    listener: socket.socket
    launcher: Launcher
    running: Running
    database: str
    """Whose jobs it runs."""
    find: Callable[[AttemptKey], SpawnerAttempt | None]
    """Returns the attempt of a key that has not ended."""
    _live: set[_Exec] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.listener.settimeout(0)
        self.loop.watch(self.listener.fileno(), self._accept)

    def end_with(self, attempt: SpawnerAttempt) -> None:
        """Kill what runs beside an attempt that has ended."""
        for one in [one for one in self._live if one.attempt is attempt]:
            one.with_job = True
            self._kill(one)

    def _accept(self) -> None:
        try:
            connection, _ = self.listener.accept()
        except OSError:
            return
        connection.settimeout(0)
        one = _Exec(connection, os.urandom(12).hex())
        self.loop.watch(connection.fileno(), partial(self._on_packet, one, connection))

    def _on_packet(self, one: _Exec, connection: socket.socket) -> None:
        fds: list[int] = []
        try:
            data, fds = _receive(connection)
            message = _decode(data)
            if isinstance(message, int):
                one.send(message)
                self._rest(one, connection)
            elif len(fds) == _STREAMS and one.attempt is None:
                self._tell(one, self._begin(one, message, fds))
            else:
                self._leave(one, connection)
        except BlockingIOError:
            return
        except (OSError, ValueError, OverflowError, msgspec.MsgspecError):
            self._leave(one, connection)
        finally:
            for fd in fds:
                os.close(fd)

    def _rest(self, one: _Exec, connection: socket.socket) -> None:
        """Hear a connection again after a pause: who sends signals without end leaves the turns
        to those whose jobs start and end.
        """
        self.loop.forget(connection.fileno())
        again = partial(self._on_packet, one, connection)
        due_ns = time.monotonic_ns() + REST_NS
        self.loop.at(due_ns, lambda: self.loop.watch(connection.fileno(), again))

    def _begin(self, one: _Exec, begin: Begin, fds: list[int]) -> Begun | Ended | Refused:
        attempt = self.find(begin.key)
        if (refusal := self._refusal(attempt, begin)) is not None:
            return refusal
        assert attempt is not None
        if attempt.request.umask is not None:
            self.running.finish_starts()  # they share the mask of this process
        try:
            process = self.launcher.start_beside(attempt, begin, fds, one.mark)
        except CannotStart as failure:
            if failure.reason != Reason.NO_PROGRAM:
                return Refused("API.INVALID_VALUE", failure.message)
            return Ended(_NOT_FOUND, why=failure.message)
        except (NoRoom, OSError) as error:
            return Refused("WORKER.EXECS_FULL", f"it has no room for a process: {error}")
        one.attempt, one.process, one.tenant_id = attempt, process, begin.tenant_id
        self.loop.watch(process.pidfd, partial(self._on_exit, one, attempt, process))
        self._live.add(one)
        attempt.strays += 1  # its files stay until the command has ended
        self.running.leftovers.is_over = self._is_over
        self.running.own_children.add(process.pid)
        return Begun()

    def _refusal(self, attempt: SpawnerAttempt | None, begin: Begin) -> Refused | None:
        if begin.database != self.database:  # whose jobs have the same numbers
            return Refused("WORKER.EXEC_ELSEWHERE", "its worker is not on this host")
        if attempt is None or not attempt.pid or attempt.ended_ns:
            return Refused("API.JOB_NOT_RUNNING", "it has no process now")
        if attempt.request.account is not None and not begin.of_owner:
            return Refused("API.FORBIDDEN", "it runs under the account of its user")
        if attempt.killed_for is not None or attempt.kill_due_ns:
            return Refused("API.JOB_NOT_RUNNING", "it is being stopped")
        if attempt.request.sandbox is not None and not sandboxed.first_of(attempt):
            return Refused("API.JOB_NOT_RUNNING", "its sandbox or container is being made")
        if sum(other.attempt is attempt for other in self._live) >= begin.job_max:
            return Refused(
                "WORKER.EXECS_FULL", f"{begin.job_max} commands run beside it (exec_job_max)"
            )
        of_tenant = sum(other.tenant_id == begin.tenant_id for other in self._live)
        if of_tenant >= COUNT_MAX // 2:
            return Refused("WORKER.EXECS_FULL", f"its worker runs {of_tenant} commands of yours")
        if len(self._live) >= COUNT_MAX:
            return Refused("WORKER.EXECS_FULL", f"its worker runs {COUNT_MAX} commands")
        return None

    def _tell(self, one: _Exec, message: Begun | Ended | Refused) -> None:
        if one.connection is not None:
            with suppress(OSError):  # it is closed by the other end, which is seen
                one.connection.send(_encode(message), socket.MSG_NOSIGNAL)

    def _leave(self, one: _Exec, connection: socket.socket) -> None:
        """End the command of a client that is gone: ask, and kill after the grace."""
        self.loop.forget(connection.fileno())
        connection.close()
        one.connection = None
        if one.process is not None:
            one.send(signal.SIGTERM, signal.SIGCONT)
            self.loop.at(time.monotonic_ns() + GRACE_NS, partial(self._kill, one))

    @staticmethod
    def _kill(one: _Exec) -> None:
        if one.process is not None:
            one.send(signal.SIGKILL)
            tree.kill_with_descendants({one.process.pid})

    def _on_exit(self, one: _Exec, attempt: SpawnerAttempt, process: SpawnerAttempt) -> None:
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return
        one.send(signal.SIGKILL)  # before it is reaped: the group is still its own
        if attempt.request.sandbox is not None:  # what it has left was adopted there
            below = tree.descendants(tree.read_processes(), {attempt.pid})
            name, mark = MARK.encode(), one.mark.encode()
            tree.kill_with_descendants({p for p in below if tree.read_mark(p, name) == mark})
        _, status = os.waitpid(process.pid, 0)
        self.running.own_children.discard(process.pid)
        self._live.discard(one)
        one.process = None
        self.loop.forget(process.pidfd)
        os.close(process.pidfd)
        self.running.look_ns = 0  # which are killed: their command is over
        attempt.strays -= 1
        if attempt.ended_ns and not attempt.strays:
            self.running.look_behind([attempt])
        code, why = os.waitstatus_to_exitcode(status), None
        if process.why_fd >= 0:
            why = read_why(process.why_fd)
            os.close(process.why_fd)
        code = code if code >= 0 else _SIGNALLED - code
        self._tell(one, Ended(code, one.with_job, why.message if why else ""))

    def _is_over(self, mark: bytes | None) -> bool:
        """Say whether an orphan is of a command that has ended: its parent died after that."""
        return bool(mark) and all(one.mark.encode() != mark for one in self._live)


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    """Return a packet and its descriptors, which nothing inherits that is started meanwhile:
    `socket.recv_fds` of Python 3.11 drops its flags.
    """
    room = socket.CMSG_LEN(_STREAMS * struct.calcsize("i"))
    data, parts, _, _ = connection.recvmsg(BYTES_MAX, room, socket.MSG_CMSG_CLOEXEC)
    return data, [fd for *_, part in parts for (fd,) in struct.iter_unpack("i", part)]
