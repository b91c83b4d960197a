"""Run a spawner: `python -m weft.worker.spawner SOCKET LOCK LOGS SCRATCH CHECKPOINTS READY_FD`.

More words: `accounts`, for processes under other accounts; `cgroups` and a directory, for cgroups
of attempts below it. It writes one byte to READY_FD when an agent can connect. Exit code 3:
another one holds the lock.
"""

import contextlib
import gc
import os
import signal
import socket
import sys
from types import FrameType

from weft.wire.processes import reset_signals
from weft.worker.spawner.accounts import forbid_new_privileges
from weft.worker.spawner.agent_link import AgentLink
from weft.worker.spawner.cgroups import Cgroups
from weft.worker.spawner.checkpoints import Checkpoints
from weft.worker.spawner.guard import AlreadyRuns, become_reaper, kill_everything, take_lock
from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.memory_files import MemoryFiles
from weft.worker.spawner.scratch import Scratch
from weft.worker.spawner.spawner import Spawner

ALREADY_RUNS = 3
ACCOUNTS = "accounts"
CGROUPS = "cgroups"


def main(argv: list[str]) -> int:
    """Serve until told to quit, then kill everything that runs."""
    socket_path, lock_path, logs, scratch, checkpoints, ready_fd, *modes = argv
    uses_accounts = ACCOUNTS in modes
    directory = modes[modes.index(CGROUPS) + 1] if CGROUPS in modes else None
    os.chdir("/")
    reset_signals()
    incarnation = os.urandom(12).hex()
    try:
        take_lock(lock_path, incarnation)
    except AlreadyRuns:
        return ALREADY_RUNS
    pid_namespace = become_reaper()
    if uses_accounts:
        forbid_new_privileges()
    cgroups = Cgroups(directory)
    memory_files = MemoryFiles(scratch)
    loop = EventLoop()
    link = AgentLink(loop, listen(socket_path))
    spawner = Spawner(
        loop,
        link,
        logs=logs,
        # Without symlinks, so that a sandbox has them under the names that its job is told.
        scratch=Scratch(os.path.realpath(scratch), for_accounts=uses_accounts),
        checkpoints=Checkpoints(
            os.path.realpath(checkpoints), os.path.basename(scratch), for_accounts=uses_accounts
        ),
        memory_files=memory_files,
        cgroups=cgroups,
        incarnation=incarnation,
        pid_namespace=pid_namespace,
        uses_accounts=uses_accounts,
    )
    _end_on_signals(loop, spawner)
    os.write(int(ready_fd), b"\n")
    os.close(int(ready_fd))
    # Nothing here makes cycles; collecting them would only stall the loop.
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        spawner.run()
    finally:
        kill_everything()
        memory_files.close()
        cgroups.close()
    return 0


def listen(path: str) -> socket.socket:
    """Return a listening socket that replaces an older one. Its path may have any length."""
    directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    short = f"/proc/self/fd/{directory}/{os.path.basename(path)}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(short)
    finally:
        os.umask(mask)
        os.close(directory)
    listener.listen(8)
    return listener


def _end_on_signals(loop: EventLoop, spawner: Spawner) -> None:
    """Quit on SIGTERM, and look for orphans when a child ends. The handler only wakes the loop."""
    wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGCHLD:
            spawner.running.may_have_orphans = True
        else:
            spawner.quitting = True

    # Handled, not ignored: an ignored signal stays ignored in a child.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, on_signal)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    loop.watch(wake_read, lambda: _drain(wake_read))


def _drain(fd: int) -> None:
    try:
        os.read(fd, 1024)
    except BlockingIOError:
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
