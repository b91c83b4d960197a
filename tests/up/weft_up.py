"""A `weft up` of a test: started for real, watched through what it logs."""

import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from weft.run.host.leftovers import ROLE_MODULES, SPAWNER_MODULE
from weft.store.embedded.leftovers import server_pids

DEADLINE_S = 90.0
"""Below the time limit of a test; on a busy machine the start alone may take a minute."""
WEFT = Path(sys.executable).with_name("weft")


class Up:
    """One supervisor in the foreground. Its log lines are the events that tests wait for."""

    def __init__(
        self, home: Path, *options: str, environ: Mapping[str, str] | None = None
    ) -> None:
        self.home = home
        self.events: list[Mapping[str, Any]] = []
        self.lines: list[str] = []
        self._queue: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen(
            [WEFT, "up", "--home", home, "--port", "0", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environ or {})},
        )
        assert self.process.stderr is not None
        threading.Thread(target=self._read, args=[self.process.stderr], daemon=True).start()

    def _read(self, lines: Iterator[str]) -> None:
        for line in lines:
            self._queue.put(line)
        self._queue.put(None)

    def until(self, event: str, **facts: object) -> Mapping[str, Any]:
        """Wait for a log line with these facts that was not returned before."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                line = self._queue.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                line = None
            assert line is not None, f"no {event} {facts} in:\n{''.join(self.lines)}"
            self.lines.append(line)
            found = _as_event(line)
            self.events.append(found)
            if found.get("event") == event and facts.items() <= found.items():
                return found

    def until_seen(self, event: str, **facts: object) -> Mapping[str, Any]:
        """Return the first log line with these facts, also one that was returned before."""
        for found in self.events:
            if found.get("event") == event and facts.items() <= found.items():
                return found
        return self.until(event, **facts)

    def until_ready(self) -> str:
        """Wait until all is ready; return the url."""
        url: str = self.until_seen("up.started")["url"]
        return url

    def until_ready_again(self, role: str) -> int:
        """Wait until a role that was killed runs again; return its pid."""
        started = self.until("up.role_started", started=role)
        self.until("up.role_ready", started=role)
        pid: int = started["started_pid"]
        return pid

    def pid(self, role: str) -> int:
        """Return a role's pid, from its own mouth; postgres: from its pid file."""
        if role == "postgres":
            return int((self.home / "pg" / "postmaster.pid").read_text().split("\n")[0])
        pid: int = json.loads((self.home / "run" / f"{role}.ready").read_text())["pid"]
        return pid

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the supervisor alone, as the terminal or `weft down` does."""
        self.process.send_signal(number)

    def finish(self) -> int:
        """Wait for the supervisor's end; return its exit code."""
        return self.process.wait(DEADLINE_S)

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        run_weft("down", "--home", str(self.home))


def _as_event(line: str) -> Mapping[str, Any]:
    text = re.sub(r"^[a-z0-9-]+ +\| ", "", line)
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def up(home: Path, *options: str, **environ: str) -> Iterator[Up]:
    """Start a `weft up` in the foreground; leave nothing of it behind."""
    result = Up(home, *options, environ=environ)
    try:
        yield result
    finally:
        result.close()


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Give the path of a home that does not exist yet.

    Not below pytest's own directory: each session of pytest closes that to other users, and the
    database of a root runs as one.
    """
    base = Path(tempfile.mkdtemp(prefix="weft-up-"))
    try:
        yield base / "home"
    finally:
        for found in base.iterdir():
            kill(processes_of(found))
        shutil.rmtree(base, ignore_errors=True)


def run_weft(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [WEFT, *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environ},
    )


def prove_audit(home: Path) -> None:
    """Prove that the books of a home are right."""
    audit = run_weft("audit", "--home", str(home), "--json")
    assert audit.returncode == 0, audit.stdout + audit.stderr


def processes_of(home: Path) -> dict[int, str]:
    """Return the live processes of a home, by pid, with their command lines."""
    modules = {*ROLE_MODULES, SPAWNER_MODULE, "weft.run.up"}
    found = dict.fromkeys(server_pids(home / "pg"), "postgres")
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if modules & set(words) and b"WEFT_HOME=" + os.fsencode(home) in variables:
            found[int(entry.name)] = " ".join(words)
    return found


def kill(pids: Iterable[int]) -> None:
    """Kill processes, some of which may end by the death of the others."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def client_of(home: Path) -> Mapping[str, str]:
    """Return what clients are told."""
    document: Mapping[str, str] = json.loads((home / "client.json").read_text())
    return document


def ask(home: Path, path: str, document: object = None, *, key: str = "") -> bytes:
    """Return what the api of a home answers."""
    client = client_of(home)
    request = urllib.request.Request(  # noqa: S310 (http on this machine)
        client["url"] + path,
        data=json.dumps(document).encode() if document is not None else None,
        headers={"Authorization": f"Bearer {client['token']}", "Content-Type": "application/json"}
        | ({"Idempotency-Key": key} if key else {}),
    )
    with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:  # noqa: S310
        return bytes(answer.read())


def get(home: Path, path: str) -> Any:  # noqa: ANN401 (documents differ)
    """Ask the api of a home."""
    return json.loads(ask(home, path))


def post(home: Path, path: str, document: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Ask the api of a home to create something."""
    return json.loads(ask(home, path, document))
