"""Whatever stands in `weft.toml`, no command ends in a traceback, and each says what is wrong."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import get_args

import pytest

from cases import cases, part
from cli.anything import COMMANDS, problem_of, stop
from weft.settings import InvalidSetting, all_declared, load_settings

VALUES = ("''", '"\\u0000"', "-1", "nan", "9" * 400, "12:00:00", "{a = {b = 1}}")
"""In the words of TOML."""
MORE_VALUES = (
    "'abc'",
    "'²'",
    "'~nobody-/x'",
    "'postgresql://['",
    "'http://[::1'",
    "0",
    "1",
    "1.5",
    "-0.0",
    "1e308",
    "inf",
    "-inf",
    "true",
    "false",
    "2026-02-28",
    "2026-02-28T23:59:60Z",
    "[]",
    "[1, 'a']",
    "{}",
    "'" + "x" * 5000 + "'",
)
BROKEN = {
    "no TOML": b"port = ",
    "twice": b"port = 1\nport = 2\n",
    "a value that is no value": b"# mine\n\nport = 'abc'\n",
    "a table": b"[port]\nx = 1\n",
    "a list of tables": b"[[worker]]\ncpu = 1\n",
    "an unknown name": b"prot = 1\n",
    "not UTF-8": b"# here\nhost = '\xff'\n",
    "UTF-16": "port = 1\n".encode("utf-16"),
    "too many digits": b"port = " + b"9" * 5000,
    "nested deeply": b"port = " + b"[" * 5000,
    "NUL": b"port = 1\0\n",
    "no such date": b"port = 2026-02-30\n",
}
OF_NAME = {
    "FILE": "p.json",
    "--file": "p.json",
    "DUMP": "jobs.jsonl",
    "SYSTEM": "agave",
    "TARGET": "b1.j1",
    "JOB": "b1.j1",
    "BATCH": "b1",
    "CONDITION": "c1",
    "SCHEDULE": "s1",
    "--by": "10m",
}
"""What is written for an argument that a command cannot do without, ..."""
OF_TYPE = {int: "1", tuple[int, ...]: "1", datetime: "2027-01-01"}
"""... by its type if not by its name. A choice is the first one, and all else an x."""
WORDS: dict[tuple[str, ...], list[str]] = {
    ("run",): ["--", "true"],
    ("each",): ["--", "true"],
    ("exec",): ["b1.j1", "--", "true"],
    ("forward",): ["b1.j1", "1"],
    **{(name,): ["b1"] for name in ("cancel", "dag", "groups", "hold", "release", "retry")},
    ("set",): ["b1", "a=1"],
    ("delete",): ["b1", "--yes"],
    ("bench",): ["no-such"],
    ("install",): ["--systemd", "--root=root"],
    ("queue", "apply"): ["queues.toml", "--yes"],
    ("pool", "apply"): ["pools.toml", "--yes"],
    ("line", "redeliver"): ["wekeo", "1"],
    ("source", "replay"): ["x", "--since", "2027-01-01"],
    ("line", "drop"): ["x", "--yes"],
    ("store", "add"): ["a", "s3://bucket", "--access", "read", "--env"],
    ("secret", "set"): ["db", "--file", "p.json"],
    ("limit", "set"): ["5", "--user", "bob"],
    ("quota", "set"): ["--user", "bob", "--jobs", "5"],
    ("tenant", "set"): ["acme", "--on-user-removal", "cancel"],
    ("line", "apply"): ["pools.toml"],
    ("line", "test"): ["pools.toml"],
    ("siege",): ["--schedule"],
}
"""What some commands need otherwise before they read settings."""
AGAVE_JOB = {
    "id": "a-007",
    "name": "old",
    "owner": "tester",
    "appId": "count-1.0",
    "status": "FAILED",
    "created": "2024-05-01T10:00:00Z",
    "ended": "2024-05-01T13:00:00Z",
}
READ_NONE = {
    ("block",),
    ("progress",),
    ("note",),
    ("down",),
    ("completion",),
    ("check-order",),
    ("bench",),
    ("convert", "dax"),
    ("simulate",),
    ("app", "add"),
    ("install",),
    ("siege",),
}
"""Commands that need no settings."""


def needed_by(command: tuple[str, ...]) -> Iterator[str]:
    """Yield the words without which a command cannot be called, as its signature has them."""
    for one in COMMANDS[command].assemble_argument_collection():
        if one.required and one.parse:
            yield from [one.name] if one.name.startswith("--") else []
            of_type = OF_TYPE.get(one.hint) or str((*get_args(one.hint), "x")[0])
            yield OF_NAME.get(one.name, of_type)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Give a home; no other setting and no server is there."""
    for name in list(os.environ):
        if name.startswith("WEFT_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEFT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO()))
    (tmp_path / "home").mkdir()
    before = signal.signal(signal.SIGALRM, stop)
    yield tmp_path / "home"
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("value", [*VALUES, *MORE_VALUES], ids=lambda value: value[:20])
def test_a_wrong_value_is_named_with_its_line_and_what_is_allowed(home: Path, value: str) -> None:
    names = [*all_declared()]
    (home / "weft.toml").write_text("".join(f"{name} = {value}\n" for name in names))
    try:
        load_settings()
    except InvalidSetting as error:
        told = {one.pointer[1:]: one.message for one in error.errors}
    else:
        told = {}

    assert set(told) <= set(names)
    for name, message in told.items():
        assert f"({home}/weft.toml:{names.index(name) + 1}); allowed: " in message
        assert len(message) < 1000
        assert "xxx" not in message or not all_declared()[name].is_secret


@pytest.mark.parametrize(
    ("n", "value"),
    [
        *enumerate(VALUES),
        *(pytest.param(0, value, marks=pytest.mark.heavy) for value in MORE_VALUES),
    ],
)
def test_no_value_ends_in_a_traceback(
    home: Path, capsys: pytest.CaptureFixture[str], n: int, value: str
) -> None:
    problems = []
    for name in part([*all_declared()], n, len(VALUES)):
        (home / "weft.toml").write_text(f"{name} = {value}\n")
        problems += [problem_of(["config"])]
        if name in {"url", "token", "database", "no_env", "clean_env", "callback_private_hosts"}:
            problems += [problem_of([*words]) for words in (["ls"], ["audit"], ["down"])]
    printed = capsys.readouterr()

    assert list(filter(None, problems)) == []
    assert "Traceback" not in printed.err + printed.out


@pytest.mark.heavy
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_each_command_names_a_broken_file(
    home: Path, capfd: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    (home.parent / "p.json").write_text('{"jobs": [{}]}')
    (home.parent / "queues.toml").write_text('[[queue]]\nname = "short"\npriority = 1\n')
    (home.parent / "pools.toml").write_text('[[pool]]\nname = "burst"\n')
    (home.parent / "jobs.jsonl").write_text(json.dumps(AGAVE_JOB))
    words = [*command, *WORDS.get(command, needed_by(command))]
    unread, problems = [], []
    for kind, content in BROKEN.items():
        (home / "weft.toml").write_bytes(content)
        problems += [problem_of(words)]
        printed = capfd.readouterr()
        problems += ["traceback"] if "Traceback" in printed.err + printed.out else []
        unread += [kind] if str(home / "weft.toml") not in printed.err + printed.out else []

    assert list(filter(None, problems)) == []
    assert unread == [] or command in READ_NONE, words


@pytest.mark.parametrize(
    "make",
    [
        Path.mkdir,
        os.mkfifo,
        lambda file: file.symlink_to(file),
        lambda file: file.symlink_to("/dev/zero"),
    ],
)
def test_something_else_in_its_place_is_named(home: Path, make: Callable[[Path], None]) -> None:
    make(home / "weft.toml")

    with pytest.raises(InvalidSetting, match=f"cannot read {home}/weft.toml"):
        load_settings()


def test_a_file_that_may_not_be_read_is_named(home: Path) -> None:
    file = home / "weft.toml"
    file.touch(mode=0)
    if os.access(file, os.R_OK):
        pytest.skip("root reads everything")

    with pytest.raises(InvalidSetting, match="cannot read"):
        load_settings()


@pytest.mark.parametrize("name", [name for name, one in all_declared().items() if one.is_secret])
def test_a_secret_in_a_file_that_others_may_read_is_refused(
    home: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file, key = home / "weft.toml", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
    file.write_text(f'{name} = "{"postgresql://me:hunter2@db/x" if name == "database" else key}"')
    for mode in (0o640, 0o604):
        file.chmod(mode)
        with pytest.raises(InvalidSetting, match="others may read") as refused:
            load_settings()
        assert refused.value.hint == f"Type `chmod 600 {file}`."
        assert not problem_of(["config"])
        assert refused.value.hint in capsys.readouterr().err
    file.chmod(0o600)
    load_settings()


@cases(
    ("content", "said"),
    [
        (BROKEN["not UTF-8"], "byte 0xff in line 2"),
        (b"\nprot = 1\n", r"weft.toml:2\); did you mean port\?"),
        (b"token = ['hunter2']\n", r"(?s)\A(?!.*hunter2)"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(home: Path, content: bytes, said: str) -> None:
    (home / "weft.toml").write_bytes(content)

    with pytest.raises(InvalidSetting, match=said):
        load_settings()
