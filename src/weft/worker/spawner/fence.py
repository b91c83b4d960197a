"""Stop all jobs if the database has not confirmed this worker for too long.

By then the database may have given them to another worker. The agent cannot be relied on for this:
it may have been killed, stopped or cut off.

While the database itself is unavailable, it gives nothing to anybody. If its server runs on this
host, the spawner sees that for itself: connections are refused or not answered. Then the jobs
continue, and once the server is back, the agent has some seconds to reach it again.

Times are of `CLOCK_BOOTTIME`: if the host is suspended, the database elsewhere gives its jobs to
others all the same. A server on this host was suspended with it and gave nothing to anybody.
"""

import socket
import struct
from collections.abc import Callable

from weft.wire.spawner import Renew
from weft.worker.boottime import BoottimeTimer, now_ns, suspended_ns
from weft.worker.spawner.loop import EventLoop

_LEAD_NS = 4_000_000_000
"""How long before its end the database is probed for the first time."""
_STEP_NS = 1_000_000_000
_SILENT_NS = 3_000_000_000
"""A server that accepts connections but does not answer within this time is asleep."""
_AWAKE_NS = 3_000_000_000
"""A live agent reaches a server that wakes up within this time: its call is waiting there."""
_PARAMETERS = struct.pack("!I", 0x0003_0000) + b"user\0weft_worker\0\0"
_STARTUP = struct.pack("!I", 4 + len(_PARAMETERS)) + _PARAMETERS
_NOT_READY = b"C57P03\0"
"""`cannot_connect_now`: the server starts, recovers or stops."""


class Fence:
    """Call `on_expired` if the fence is not renewed in time."""

    def __init__(self, loop: EventLoop, on_expired: Callable[[], None]) -> None:
        self._loop = loop
        self._on_expired = on_expired
        self._renewal = Renew(0)
        self._until_ns = 0
        self._away_until_ns = 0
        """How long jobs may continue because the database was seen to be unavailable."""
        self._suspended_ns = suspended_ns()
        self._timer = BoottimeTimer()
        loop.watch(self._timer.fd, self._look)
        self._question: socket.socket | None = None
        self._asked_ns = 0
        self.has_expired = False
        """True: nothing may be started until the next renewal."""

    @property
    def holds(self) -> bool:
        """Say by the clock whether jobs may be started: this process may have been stopped since
        it looked, or have been renewed with a time that is over.
        """
        return not self._until_ns or now_ns() < self._until_ns

    def renew(self, renewal: Renew) -> None:
        """Restart the time limit."""
        self._timer.stop()
        self._forget_question()
        self.has_expired = False
        self._renewal = renewal
        self._look_for_suspension()
        self._until_ns = 0
        if renewal.until_ns:
            # A call that waited for a sleeping database renews with a time before that sleep.
            self._until_ns = max(renewal.until_ns, self._away_until_ns)
            self._timer.set(self._until_ns - (_LEAD_NS if renewal.database else 0))

    def _look(self) -> None:
        self._look_for_suspension()
        if self._renewal.database:
            self._look_for_database()
        now = now_ns()
        if now < self._until_ns:
            self._timer.set(min(self._until_ns, now + _STEP_NS))
            return
        self._timer.stop()
        self._forget_question()
        self.has_expired = True
        self._on_expired()

    def _look_for_suspension(self) -> None:
        before_ns, self._suspended_ns = self._suspended_ns, suspended_ns()
        if self._renewal.database and self._suspended_ns - before_ns > _STEP_NS:
            self._prolong(_AWAKE_NS)

    def _look_for_database(self) -> None:
        if self._question is None:
            self._ask()
        elif now_ns() - self._asked_ns >= _SILENT_NS:
            self._prolong(_AWAKE_NS)

    def _prolong(self, by_ns: int) -> None:
        self._away_until_ns = now_ns() + by_ns
        self._until_ns = max(self._until_ns, self._away_until_ns)

    def _ask(self) -> None:
        """Begin a login, which every working server answers."""
        question = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            question.connect(self._renewal.database)
            question.send(_STARTUP)
        except (FileNotFoundError, ConnectionError):
            question.close()
            self._prolong(self._renewal.return_ns)
        except OSError:  # too busy to accept, or forbidden: no proof of an outage
            question.close()
        else:
            self._question = question
            self._asked_ns = now_ns()
            self._loop.watch(question.fileno(), self._on_answer)

    def _on_answer(self) -> None:
        if self._question is None:
            return
        try:
            answer = self._question.recv(1024)
        except BlockingIOError:
            return
        except OSError:
            answer = b""
        self._forget_question()
        if not answer or _NOT_READY in answer:
            self._prolong(self._renewal.return_ns)

    def _forget_question(self) -> None:
        if self._question is not None:
            self._loop.forget(self._question.fileno())
            self._question.close()
            self._question = None
