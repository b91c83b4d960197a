"""What a home holds is its owner's alone, and no secret is anywhere but in its files."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from up.weft_up import get, post, processes_of, run_weft, up
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
            command, *form, "--home", str(home),
            WEFT_TOKEN="hidden1", WEFT_DATABASE=f"postgresql://me:hidden3@127.0.0.1:1/x{query}",
            COLUMNS="400",
        )  # fmt: skip

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
