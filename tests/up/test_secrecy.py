"""What a home holds is its owner's alone, and no secret is anywhere but in its files. A worker
with a home of its own: its jobs run, and their output is said to be elsewhere.
"""

import json
import os
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import weft
from up.weft_up import DEADLINE_S, WEFT, get, post, processes_of, run_weft, temporary_home, up
from weft.core.errors import OutputElsewhere
from weft.run.home import Home

pytestmark = pytest.mark.heavy

OTHERS_MAY_PASS = 0o711
"""Directories on the way to the database of a root, which runs as another user."""


@contextmanager
def file_mask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def run_some_jobs(home: Path) -> None:
    """Run what makes every kind of file: scripts, segments, and output with a file of its own."""
    jobs = [
        {"command": ["env"]},
        {"script": "echo a script; touch made; cat /proc/self/environ"},
        {"command": ["head", "-c", "3000000", "/dev/zero"]},
    ]
    batch = post(home, "/v1/batches", {"jobs": jobs})["id"]
    while get(home, f"/v1/batches/{batch}")["n_succeeded"] < len(jobs):
        pass


def files_below(path: Path) -> Iterator[Path]:
    """Yield the files and directories of a home; what lives briefly may be gone meanwhile."""
    for directory, _, names in os.walk(path):
        yield Path(directory)
        yield from (Path(directory, name) for name in names)


def mode_of(path: Path) -> int:
    try:
        return stat.S_IMODE(path.lstat().st_mode)
    except FileNotFoundError:
        return 0


def content_of(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() else b""
    except OSError:
        return b""


def secrets_of(home: Path) -> list[bytes]:
    logins = Home(home).secrets().values()
    token = json.loads((home / "client.json").read_text())["token"]
    key = json.loads((home / "callback.json").read_text())["key"]
    return [
        token.encode(),
        key.encode(),
        *((urlsplit(dsn).password or "").encode() for dsn in logins),
    ]


@pytest.mark.parametrize("mask", [0o000, 0o077], ids=oct)
def test_nobody_else_may_read_or_write_in_a_home(home: Path, mask: int) -> None:
    with file_mask(mask), up(home) as weft:
        weft.until_ready()
        run_some_jobs(home)
        for role in ("driver", "worker"):
            while not (home / "run" / f"{role}.prom").exists():
                pass
        modes = {
            path.relative_to(home): mode_of(path)
            for path in files_below(home)
            if home / "run" / "pg" not in (path, path.parent)  # the socket asks for a password
        }

    open_files = {
        str(path): oct(mode)
        for path, mode in modes.items()
        if mode & 0o077 and not ((home / path).is_dir() and mode == OTHERS_MAY_PASS)
    }
    passable = {str(path) for path, mode in modes.items() if mode == OTHERS_MAY_PASS}

    assert open_files == {}
    assert passable <= ({".", "run"} if os.geteuid() == 0 else set())


def test_secrets_are_in_no_log_no_output_and_no_command_line(home: Path) -> None:
    with up(home) as weft:
        weft.until_ready()
        run_some_jobs(home)
        secrets = secrets_of(home)
        told = {
            f"{pid} {name}": content_of(Path(f"/proc/{pid}/{name}"))
            for pid in processes_of(home)
            for name in ("cmdline", "environ")
        }
        told |= {
            str(path): content_of(path)
            for path in files_below(home)
            if path.name not in {"secrets.json", "client.json", "callback.json"}
        }
        said = "".join(weft.lines).encode()

    assert len(secrets) == 6
    assert min(map(len, secrets)) >= 20
    assert [name for name, text in told.items() for one in secrets if one in text] == []
    assert not any(one in said for one in secrets)


@pytest.mark.parametrize("command", ["config", "doctor"])
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_commands_hide_secrets(home: Path, command: str, form: tuple[str, ...]) -> None:
    for query in ("", "?host=127.0.0.1&password=hidden2"):
        shown = run_weft(
            command,
            *form,
            "--home",
            str(home),
            WEFT_TOKEN="hidden1",
            WEFT_DATABASE=f"postgresql://me:hidden3@127.0.0.1:1/x{query}",
            COLUMNS="400",
        )

        assert "hidden" not in shown.stdout + shown.stderr
        assert shown.stdout


def test_doctor_says_when_others_may_read_a_file_with_secrets(home: Path) -> None:
    home.mkdir()
    for name in ("secrets.json", "client.json", "callback.json"):
        (home / name).write_text("{}")
        (home / name).chmod(0o644)
    found = json.loads(run_weft("doctor", "--json", "--home", str(home)).stdout)

    said = [str(one) for one in found if "others may read" in str(one)]
    assert len(said) == 3


CPU = ("--cpu", "3")
"""More than the worker of `weft up` has here."""


@contextmanager
def worker_apart(home: Path, other: Path, cores: int = 4) -> Iterator[None]:
    """Run a worker on the database of `home`, with another home."""
    dsn = Home(home).secrets()["weft_worker"]
    process = subprocess.Popen(
        [WEFT, "worker", "--home", other, "--worker-cpu", str(cores)],
        env={**os.environ, "WEFT_DATABASE": dsn, "WEFT_WORKER_NAME": f"apart-{cores}"},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        assert any("worker.registered" in line for line in process.stderr), "it did not register"
        yield
    finally:
        process.terminate()
        process.wait(DEADLINE_S)
        process.stderr.close()


@pytest.fixture(scope="module")
def homes() -> Iterator[tuple[str, str]]:
    """Give the home of a server, and that of the worker that takes the jobs of this test."""
    with temporary_home() as home, up(home, "--worker-cpu", "2") as server:
        server.until_ready()
        with temporary_home() as other, worker_apart(home, other):
            yield str(home), str(other)


def test_run_says_where_the_output_is(homes: tuple[str, str]) -> None:
    home, other = homes
    spoke = run_weft("run", "--home", home, *CPU, "--", "echo", "hello")
    failed = run_weft("run", "--home", home, *CPU, "--", "sh", "-c", "echo hello; exit 7")
    silent = run_weft("run", "--home", home, *CPU, "--", "true")

    assert (spoke.returncode, spoke.stdout) == (4, "")
    assert f"is on host {socket.gethostname()}" in spoke.stderr
    assert f"{other}/logs" in spoke.stderr
    assert failed.returncode == 7
    assert "is on host" in failed.stderr
    assert (silent.returncode, silent.stderr) == (0, "")


def test_each_says_which_outputs_are_missing(homes: tuple[str, str], tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_text("a\nb\nc\n")
    done = run_weft("each", "--home", homes[0], *CPU, "--file", str(lines), "--", "echo", "{}")

    assert (done.returncode, done.stdout) == (1, "")
    assert "3 succeeded, 3 without their output" in done.stderr
    assert "is on host" in done.stderr


def test_logs_of_such_a_job_are_refused(homes: tuple[str, str]) -> None:
    home = homes[0]
    run = run_weft("run", "--home", home, *CPU, "--json", "--", "echo", "hello")
    job = f"b{json.loads(run.stdout)['batch_id']}.j1"
    answers = [
        run_weft("logs", "--home", home, job, *more)
        for more in ((), ("--follow",), ("--json",), ("--stream", "stdout"), ("--attempt", "1"))
    ]
    waited = run_weft("wait", "--home", home, job)

    assert [one.returncode for one in answers] == [4] * 5
    assert all("is on host" in one.stderr for one in answers)
    assert waited.returncode == 0


def test_result_of_a_function_is_not_taken_for_none(homes: tuple[str, str]) -> None:
    with (
        weft.Executor(resources={"cpu": 3}, home=Path(homes[0])) as executor,
        pytest.raises(OutputElsewhere, match="is on host"),
    ):
        executor.submit(abs, -1).result(DEADLINE_S)


def test_worker_that_shares_the_home_is_read(homes: tuple[str, str]) -> None:
    with temporary_home() as other:
        Home(other).prepare()
        (other / "logs").rmdir()
        (other / "logs").symlink_to(Path(homes[0]) / "logs")
        with worker_apart(Path(homes[0]), other, cores=6):
            done = run_weft("run", "--home", homes[0], "--cpu", "5", "--", "echo", "hello")

    assert (done.returncode, done.stdout) == (0, "hello\n")


def test_report_has_findings_settings_and_logs_and_no_secret(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    with up(home) as weft:
        weft.until_ready()
        secrets = [
            value
            for name in ("secrets.json", "client.json", "callback.json", "secret-keys.json")
            for value in texts_of(json.loads((home / name).read_text()))
            if len(value) >= 32 and "://" not in value
        ]
        with (home / "log/api.log").open("a") as log:  # as if a role had been careless
            log.write("\n".join((*secrets, "https://me:hunter2@example.org", "Bearer abc.def")))
        first, again = (
            run_weft("doctor", "--report", str(file), WEFT_HOME=str(home), WEFT_HOST="::1")
            for _ in range(2)
        )
    text = file.read_text()

    assert first.returncode == 0, first.stdout
    assert "read it before you pass it on" in first.stderr
    assert again.returncode == 2
    assert "File exists" in again.stderr
    assert file.stat().st_mode & 0o077 == 0
    assert "host = ::1 (" in text
    assert '"event":"api.listening"' in text.replace(" ", "")
    assert [one for one in (*secrets, "hunter2", "abc.def") if one in text] == []


def texts_of(document: object) -> list[str]:
    """Return all texts in a document; of a DSN its password, too."""
    if isinstance(document, dict):
        return [text for value in document.values() for text in texts_of(value)]
    if isinstance(document, list):
        return [text for value in document for text in texts_of(value)]
    text = str(document)
    return [text, text.rpartition("@")[0].rpartition(":")[2]]
