"""What a host is asked, run there by its own Python: begin, list or end machines of a deployment.

It is sent as text, so it needs nothing but the standard library of Python 3.9. It reads one JSON
document and writes one.

    DIRECTORY/DEPLOYMENT/         the beginning of the SHA-256 of its tag
        lock                      locked while a machine begins or ends
        MACHINE/                  of its name
            name, process         whose it is, and which process its worker is
            token                 for that worker alone
            home/, log            the worker's home, and what it prints

A worker is proved to be ours by its number, its birth, the start of the host, its account, and the
variable WEFT_MACHINE. None is ended by its name alone.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import select
import shutil
import signal
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

MARK = "WEFT_MACHINE"
SPAWNER = b"\0-m\0weft.worker.spawner\0"
STOP_S, KILL_S = 20.0, 2.0
"""A worker ends its jobs within its own grace; then it is killed."""
LOOK_S = 0.02
WHY_CHARS = 300
READ_MAX = 8192
BOOT = Path("/proc/sys/kernel/random/boot_id")


def main() -> None:
    """Do what is asked."""
    asked = json.loads(sys.stdin.read())
    asked["umask"] = os.umask(0o077)
    top = Path.home() / asked["directory"] / digest(asked["tag"])
    found = {"begin": begin, "list": listed, "end": end}[asked["do"]](top, asked)
    sys.stdout.write(json.dumps(found))


def begin(top: Path, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Begin the worker of a machine, unless there is one; say why this host has no room for it."""
    top.mkdir(parents=True, exist_ok=True)
    with locked(top):
        for machine in machines(top):
            if machine.name != asked["name"]:
                return {"no": f"it has machine {machine.name}", "full": True}
            if machine.process:
                return machine.told()
            shutil.rmtree(machine.path)  # its maker died before its worker began
        program = asked["command"][0]
        if not os.access(program, os.X_OK):
            return {"no": f"it has no program {program}"}
        cores, mib = os.cpu_count() or 1, memory_mib()
        if asked["cpu_m"] > cores * 1000 or asked["memory_mib"] > mib:
            return {"no": f"it has {cores} cores and {mib} MiB of memory"}
        machine = Machine.made(top, asked)
        pid = machine.begun(asked)
        until = time.monotonic() + asked["watch_s"]
        while time.monotonic() < until and not machine.is_ready():
            if os.waitpid(pid, os.WNOHANG)[0]:
                break
            time.sleep(LOOK_S)
        return machine.told()


def listed(top: Path, _: Mapping[str, Any]) -> dict[str, Any]:
    """Tell of all machines of the deployment."""
    return {"machines": [machine.told() for machine in machines(top)]}


def end(top: Path, asked: Mapping[str, Any]) -> dict[str, Any]:
    """End a machine with all that runs there, and remove it."""
    if not top.is_dir():
        return {}
    with locked(top):
        for machine in machines(top):
            if machine.name == asked["name"]:
                machine.end(asked)
                if machine.lives():
                    return {"error": f"process {machine.process[0]} has not ended"}
                shutil.rmtree(machine.path)
    return {}


class Machine:
    """A machine's directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = (path / "name").read_text()
        self.process: Sequence[Any] = ()
        """Number, birth, and which start of the host."""
        with suppress(FileNotFoundError):
            self.process = json.loads((path / "process").read_text())

    @classmethod
    def made(cls, top: Path, asked: Mapping[str, Any]) -> Machine:
        """Make one; whoever dies meanwhile leaves nothing that counts."""
        new = top / ".new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        (new / "name").write_text(asked["name"])
        return cls(new.rename(top / digest(asked["name"])))

    def begun(self, asked: Mapping[str, Any]) -> int:
        """Begin the worker. It is noted which process it is before it is one."""
        token = self.path / "token"
        token.write_text(asked["token"] + "\n")
        name, _, mark = mark_of(asked, self.name).partition("=")
        home = str(self.path / "home")
        variables = {**os.environ, **asked["variables"], name: mark, asked["home"]: home}
        words = [*asked["command"], "--token-file", str(token)]
        reads, writes = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(writes)
            self._become(words, variables, reads, asked["umask"])
        os.close(reads)
        self.process = [pid, born(pid), BOOT.read_text().strip()]
        new = self.path / ".process"
        new.write_text(json.dumps(self.process))
        new.rename(self.path / "process")
        os.write(writes, b"x")
        os.close(writes)
        return pid

    def _become(
        self, words: Sequence[str], variables: Mapping[str, str], reads: int, umask: int
    ) -> None:
        try:
            os.setsid()  # it outlives the connection
            if not os.read(reads, 1):
                os._exit(1)
            log = os.open(self.path / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.chdir("/")
            os.umask(umask)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.execve(words[0], list(words), variables)  # noqa: S606 (the operator's program)
        except OSError as error:
            os.write(2, f"{words[0]}: {error.strerror}\n".encode())
        finally:
            os._exit(127)

    def is_ready(self) -> bool:
        """Say whether the worker has said that it works."""
        return any((self.path / "home" / "run").glob("*.ready"))

    def lives(self) -> bool:
        """Say whether the process lives that was noted."""
        if not self.process:
            return False
        pid, birth, boot = self.process
        return bool(BOOT.read_text().strip() == boot and born(pid) == birth)

    def end(self, asked: Mapping[str, Any]) -> None:
        """End the worker, and what starts its jobs if that is left."""
        mark = mark_of(asked, self.name)
        if self.process:
            pid = self.process[0]
            end_process(pid, lambda _: self.lives() and has_mark(pid, mark))
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and is_spawner(int(entry.name), mark):
                end_process(int(entry.name), lambda one: is_spawner(one, mark))

    def told(self) -> dict[str, str]:
        """Return what is to be known of it."""
        if not self.process:
            return {"name": self.name, "id": "", "error": ""}
        error = "" if self.lives() else f"its worker has ended{self._last_words()}"
        pid, birth, _ = self.process
        return {"name": self.name, "id": f"{pid}-{birth}", "error": error}

    def _last_words(self) -> str:
        try:
            with (self.path / "log").open("rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - READ_MAX))
                lines = log.read().decode(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return f": {lines[-1][:WHY_CHARS]}" if lines else ""


@contextmanager
def locked(top: Path) -> Iterator[None]:
    """Let one at a time begin or end machines; the kernel frees it with this process."""
    file = os.open(top / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def machines(top: Path) -> list[Machine]:
    """Return the machines of a deployment."""
    found = []
    for path in sorted(top.glob("[0-9a-f]*")):
        try:
            found.append(Machine(path))
        except FileNotFoundError:  # it goes just now
            continue
    return found


def digest(text: str) -> str:
    """Return a short word for a text: paths of sockets in the home may not be long."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def mark_of(asked: Mapping[str, Any], name: str) -> str:
    """Return the variable of a machine, as a process has it."""
    return f"{MARK}={asked['tag']}/{name}"


def born(pid: int) -> str:
    """Return when a process began, in ticks since the host did; nothing if it has ended."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if words[0] in "ZX" else words[19]


def has_mark(pid: int, mark: str) -> bool:
    """Say whether a process of this account has the variable."""
    process = Path(f"/proc/{pid}")
    try:
        if process.stat().st_uid != os.geteuid():
            return False
        return os.fsencode(mark) in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def is_spawner(pid: int, mark: str) -> bool:
    """Say whether a process starts the jobs of a machine's worker; jobs have its variable, too."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return SPAWNER in words and has_mark(pid, mark)


def end_process(pid: int, is_meant: Callable[[int], bool]) -> None:
    """Ask a process to end, then kill it. It is held first: numbers are given again."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ended = select.poll()
        ended.register(handle, select.POLLIN)
        if not is_meant(pid):
            return
        for number, wait_s in ((signal.SIGTERM, STOP_S), (signal.SIGKILL, KILL_S)):
            signal.pidfd_send_signal(handle, number)
            if ended.poll(wait_s * 1000):
                return
    except ProcessLookupError:
        return
    finally:
        os.close(handle)


def memory_mib() -> int:
    """Return how much memory the host has."""
    with Path("/proc/meminfo").open() as file:
        return int(file.readline().split()[1]) // 1024


if __name__ == "__main__":
    main()
