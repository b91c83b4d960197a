"""Run the pipeline on a server of its own, and compare its report with the sequential one.

Makes a throw-away home, starts `weft up` there, submits, kills weft in the middle, waits, prints
what it took, audits, and stops the server. The home with its logs stays until the next demo.
"""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from counting import PARTS
from pipeline import FAILING_PART, make_pipeline

HERE = Path(__file__).resolve().parent
WEFT = Path(sys.executable).parent / "weft"
PREFIX = f"weft-demo-{os.getuid()}-"
LINES_SHOWN = 20
LOOK_S = 0.2
ROLES = ("api", "driver", "worker")
FAILING_JOB = f"j{FAILING_PART + 1}"
LOCKS = ("demo.lock", "run/up.lock")


class DemoFailed(Exception):
    """A step of the demo did not do what it should."""


def say(text: str = "") -> None:
    """Print at once, also into a pipe."""
    print(text, flush=True)


def weft(home: Path, *arguments: str, check: bool = True) -> None:
    """Run a command whose output the user sees."""
    command = [str(WEFT), *arguments]
    say(f"$ weft {' '.join(arguments)}")
    code = subprocess.run(command, env=_environment(home), check=False).returncode
    if check and code != 0:
        raise DemoFailed(f"`weft {' '.join(arguments)}` ended with exit code {code}")


def ask(home: Path, *arguments: str) -> dict[str, Any]:
    """Run a command for its JSON."""
    command = [str(WEFT), *arguments, "--json"]
    done = subprocess.run(
        command, env=_environment(home), check=False, stdout=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        raise DemoFailed(f"`weft {' '.join(arguments)}` ended with exit code {done.returncode}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _environment(home: Path) -> dict[str, str]:
    ours = {key: text for key, text in os.environ.items() if not key.startswith("WEFT_")}
    return {**ours, "WEFT_HOME": str(home)}


def _try_lock(path: Path) -> IO[bytes] | None:
    """Take a lock file; `None` if somebody holds it."""
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def _remove_old_homes() -> None:
    """Remove what earlier demos left, but not a home that somebody uses now."""
    for home in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        locks = [_try_lock(home / name) for name in LOCKS if (home / name).exists()]
        if all(locks):
            shutil.rmtree(home, ignore_errors=True)
        for lock in filter(None, locks):
            lock.close()


@contextlib.contextmanager
def throw_away_home() -> Iterator[Path]:
    """Make a home; the lock says that a demo runs in it."""
    _remove_old_homes()
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    with (home / LOCKS[0]).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield home


@contextlib.contextmanager
def server(home: Path) -> Iterator[None]:
    """Have all of weft run in this home."""
    weft(home, "up", "--detach", "--home", str(home), "--port", "0")
    try:
        yield
    finally:
        weft(home, "down", "--home", str(home), check=False)


def run_pipeline(home: Path) -> tuple[str, float]:
    """Submit, kill weft in the middle, wait; return the batch and the seconds it took."""
    document = home / "pipeline.json"
    document.write_text(json.dumps(make_pipeline(home / "results"), indent=1))
    started = time.monotonic()
    say(f"$ weft submit {document}")
    batch = ask(home, "submit", str(document))["id"]
    name = batch if str(batch).startswith("b") else f"b{batch}"
    say(f"$ weft wait {name}")
    with subprocess.Popen([str(WEFT), "wait", name], env=_environment(home)) as waiting:
        kill_in_the_middle(home, name)
    if waiting.returncode != 0:
        raise DemoFailed(f"`weft wait {name}` ended with exit code {waiting.returncode}")
    return name, time.monotonic() - started


def kill_in_the_middle(home: Path, batch: str) -> None:
    """Kill api, driver and worker when a quarter of the jobs has run; `weft up` restarts them."""
    while (status := ask(home, "status", batch))["n_succeeded"] < PARTS // 4:
        if status["state"] != "running":
            return
        time.sleep(LOOK_S)
    for role in ROLES:
        pid = role_pid(home, role)
        say(f"$ kill -9 {pid}  # the {role}, with {status['n_succeeded']} jobs done")
        os.kill(pid, signal.SIGKILL)


def role_pid(home: Path, role: str) -> int:
    """Return the process of a role: a child of the `weft up` that this demo has started."""
    pid = int(json.loads((home / "run" / f"{role}.ready").read_text())["pid"])
    supervisor = int((home / "run" / "up.lock").read_text())
    parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    if parent != supervisor:
        raise DemoFailed(f"process {pid} is not the {role} of this home")
    return pid


def run_sequentially(home: Path) -> tuple[Path, float]:
    """Compute the same report in one process; return its file and the seconds it took."""
    file = home / "sequential.txt"
    started = time.monotonic()
    subprocess.run([sys.executable, str(HERE / "sequential.py"), str(file)], check=True)
    return file, time.monotonic() - started


def compare(report: Path, expected: Path) -> None:
    """Say that both are equal to the byte, or fail."""
    if report.read_bytes() != expected.read_bytes():
        raise DemoFailed(f"{report} differs from {expected}")
    size = report.stat().st_size
    say(f"The report equals that of the sequential script, byte by byte ({size:,} bytes).")


def compared(seconds: float, sequential_seconds: float) -> str:
    """Say which of the two was faster."""
    if seconds <= sequential_seconds:
        return f"weft was {sequential_seconds / seconds:.1f} times as fast as the script"
    return f"the script was {seconds / sequential_seconds:.1f} times as fast as weft"


def tell(home: Path, batch: str, seconds: float, sequential_seconds: float) -> None:
    """Print what it took and where to look."""
    status = ask(home, "status", batch)
    say()
    say(f"  jobs        {status['n_succeeded']} of {status['n_jobs']} succeeded")
    say(f"  repeated    {batch}.{FAILING_JOB}, whose first attempt failed on purpose")
    say(f"  weft        {seconds:.1f} s, with the kill in the middle")
    say(f"  sequential  {sequential_seconds:.1f} s: {compared(seconds, sequential_seconds)}")
    say(f"  cost        {float(status['cost']):.6f}")
    say(f"  report      {home / 'results' / 'report.txt'}")
    say(f"  job output  {home / 'logs'}")
    say(f"  role logs   {home / 'log'}")
    say()


def tell_what_next(home: Path, batch: str) -> None:
    """Print commands to try."""
    program = os.path.relpath(WEFT)
    say()
    say("The server is stopped, its home stays until the next demo. To look again:")
    say()
    say(f"  export WEFT_HOME={home}")
    say(f"  {program} up --detach --port 0")
    for arguments in (
        f"status {batch}",
        f"logs {batch}.{FAILING_JOB} --attempt 1",
        "ls",
        "run -- echo hello",
        "audit",
    ):
        say(f"  {program} {arguments}")
    say(f"  {program} down")


def main() -> int:
    """Run the demo; the exit code is 1 if a step failed."""
    with throw_away_home() as home:
        try:
            with server(home):
                batch, seconds = run_pipeline(home)
                expected, sequential_seconds = run_sequentially(home)
                report = home / "results" / "report.txt"
                say()
                say("\n".join(report.read_text().splitlines()[:LINES_SHOWN]))
                say()
                weft(home, "status", batch)
                weft(home, "audit")
                tell(home, batch, seconds, sequential_seconds)
                compare(report, expected)
        except DemoFailed as error:
            say(f"\nThe demo failed: {error}.\nLogs are in {home / 'log'}.")
            return 1
        except KeyboardInterrupt:
            say("\nStopped.")
            return 130
        tell_what_next(home, batch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
