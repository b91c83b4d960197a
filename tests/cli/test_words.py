"""What the command line says, and what it tells the shell."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cases import cases
from cli.anything import COMMANDS
from client.http_server import answer, serving
from e2e.every_command import OTHERS, READING
from weft.cli.app import run_command
from weft.cli.commands.status import _attempt_row, _print_job
from weft.cli.input.job_document import show_command
from weft.cli.input.targets import Target, parse_target
from weft.cli.terminal.exit_code import exit_code_of
from weft.cli.terminal.names import number_ranges, state_words, why_of
from weft.cli.terminal.plain import one_line, plain
from weft.cli.terminal.screen import print_facts, print_table
from weft.core.ends.end_words import explain_end
from weft.core.errors import BadId
from weft.core.text.amounts import duration, money, size
from weft.core.text.texts import wrong_name
from weft.settings import all_declared, shown_value

ROOT = Path(__file__).resolve().parents[2]


def test_texts_cannot_steer_the_terminal() -> None:
    assert plain("a\u061cb") == "a\ufffdb"
    assert plain("a\x1b[2Jb\x9b31mc\x07\u202ed\te\n") == "a�[2Jb�31mc�\ufffdd\te\n"
    assert one_line("a\nb\tc" + "x" * 100, width=10) == "a⏎b cxxxx…"


@cases(
    ("end", "code", "words"),
    [
        ({"state": "success", "exit_code": 0}, 0, "succeeded"),
        ({"state": "failed", "reason": "exit", "exit_code": 3}, 3, "exit code 3"),
        ({"state": "failed", "reason": "signal", "signal": 9}, 137, "killed by SIGKILL"),
        ({"state": "error", "reason": "no_program"}, 127, "program not found"),
        ({"state": "error", "reason": "timeout", "signal": 15}, 124, "time limit reached"),
        (
            {"state": "error", "reason": "timeout", "signal": 15, "spec": {"timeout_s": 10}},
            124,
            "time limit of 10.0 s reached",
        ),
        ({"state": "error", "reason": "oom", "signal": 9}, 137, "out of memory"),
        ({"state": "error", "reason": "disk"}, 1, "disk full"),
        ({"state": "cancelled", "reason": "cancelled", "signal": 15}, 130, "cancelled"),
        ({"state": "cancelled", "reason": None}, 130, "cancelled"),
        ({"state": "error", "reason": "disk", "message": "no space"}, 1, "disk full (no space)"),
    ],
)
def test_the_shell_is_told_as_a_shell_would(end: dict[str, Any], code: int, words: str) -> None:
    assert exit_code_of(end) == code
    assert explain_end(end) == words


@cases(
    ("text", "expected"),
    [
        ("b12", Target(12)),  # type: ignore[arg-type]
        ("12", Target(12)),  # type: ignore[arg-type]
        ("b12.j7", Target(12, job_id=7)),  # type: ignore[arg-type]
        ("b12/stage1/a", Target(12, group="/stage1/a")),  # type: ignore[arg-type]
        ("b12/pca", Target(12, group="pca")),  # type: ignore[arg-type]
        ("b12/g7", Target(12, group="/g7")),  # type: ignore[arg-type]
        ("b12/", Target(12, group="/")),  # type: ignore[arg-type]
    ],
)
def test_targets(text: str, expected: Target) -> None:
    assert parse_target(text) == expected


@cases("text", ["", "x", "b0", "b12.", "b12.j0", "j7", "b-1", "b12/x"])
def test_what_is_no_target_is_refused(text: str) -> None:
    with pytest.raises(BadId):
        parse_target(text, groups=False)


def test_amounts_are_short() -> None:
    times = [0, 12, 3_400, 125_000, 3_725_000, 270_000_000]
    assert [duration(ms) for ms in times] == [
        "0 ms",
        "12 ms",
        "3.4 s",
        "2:05",
        "1:02:05",
        "3 d 3 h",
    ]
    assert [size(n) for n in (0, 1023, 1536, 5 << 30)] == ["0 B", "1023 B", "1.5 KiB", "5.0 GiB"]
    assert [money(n) for n in (0, None, 0.0000123, 1.5)] == ["0", "0", "< 0.01", "1.50"]


@cases("command", [["echo", "a\u00a0b\u2028c\x1b\n"], [""], ["x" * 1000], ["\u202e\U000e0001"]])
def test_every_command_gives_a_name_that_the_server_takes(command: list[str]) -> None:
    assert wrong_name(show_command(command), chars_max=256) is None


def test_config_shows_no_secrets() -> None:
    declared = all_declared()
    token, database = declared["token"], declared["database"]

    assert shown_value(token, "abc") == "•••"
    dsn = shown_value(database, "postgresql://me:pw@db/weft")
    assert dsn == "postgresql://me:•••@db/weft"
    assert shown_value(database, "host=db password=pw") == "•••"


def test_config_shows_all_and_where_a_setting_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "weft.toml").write_text('port = 8765\npol = "a"\n')
    monkeypatch.setenv("WEFT_HOST", "::1")

    assert run_command(["config", "--home", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert f"{tmp_path}/weft.toml:2); did you mean pool?" in " ".join(said.err.split())
    assert f"port\t8765\t{tmp_path}/weft.toml" in said.out
    (tmp_path / "weft.toml").write_text("port = 1234\n")
    assert run_command(["config", "--home", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["port"]["value"], found["port"]["from"]) == ("1234", f"{tmp_path}/weft.toml")
    assert (found["host"]["from"], found["pool"]["from"]) == ("environment WEFT_HOST", "default")


@cases(
    ("line", "told"),
    [
        ("line rm hrsi", "portal has messages, which stay: 1 open, 2 given up"),
        ("line apply hrsi.toml", "portal has messages, which stay: 1 open, 2 given up"),
        ("line apply --dry-run hrsi.toml", "portal has messages, which stay"),
        ("user add bob", "`weft billing project members default --remove bob`"),
    ],
)
async def test_what_stays_and_who_may_cancel_is_told(
    line: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hrsi.toml").write_text("[sink.wekeo]")
    sink = {"setup": "hrsi", "n_open": 1, "n_given_up": 2, "n_held": 0}
    sinks = [{**sink, "sink": name} for name in ("portal", "wekeo")]
    user = {"name": "bob", "role": "user", "token": "t"}
    body = {"sinks": sinks, "changed": [], "changes": [], **user}
    async with serving(lambda _: answer(200, json.dumps(body).encode())) as server:
        monkeypatch.setenv("WEFT_URL", server.url)
        monkeypatch.setenv("WEFT_TOKEN", "t")
        assert await asyncio.to_thread(run_command, line.split()) == 0

    said = " ".join(capsys.readouterr().err.split())
    assert told in said
    assert ("wekeo has" in said) == ("rm" in line)


def test_a_batch_without_jobs_has_not_just_succeeded() -> None:
    batch = {"state": "success", "complete": True, "n_jobs": 1}
    shown = [state_words({**batch, **more}) for more in ({}, {"n_jobs": 0})]
    assert shown == ["success", "success (no jobs)"]


def test_numbers_are_written_as_ranges() -> None:
    assert number_ranges([]) == ""
    assert number_ranges([1]) == "j1"
    assert number_ranges([*range(2, 1002), 1005]) == "j2–j1001, j1005"


def test_piped_tables_have_tabs_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("Job", "Name"), [("b1.j1", "two\nlines\tand a tab")], spare=())
    print_facts({"Batch": "b1", "Name": None})

    assert capsys.readouterr().out == "Job\tName\nb1.j1\ttwo⏎lines and a tab\nBatch\tb1\n"


def test_a_running_attempt_shows_its_time_so_far() -> None:
    started = (datetime.now(UTC) - timedelta(hours=2)).isoformat()
    attempt = {"attempt": 1, "state": "running", "started_at": started, "cpu_ms": 0}
    *_, took, cpu, memory, output = _attempt_row({**attempt, "ended_at": None})

    assert (str(took)[:4], cpu, memory, output) == ("2:00", "", "", "")


def test_status_of_a_job_says_what_it_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody who wonders why it waits, or which of many inputs failed, looks here."""
    job = {
        "batch_id": 4,
        "job_id": 7,
        "name": "a",
        "index": 6,
        "state": "ready",
        "queue": "short",
        "resources": {"cpu": 0.25, "gpu": 0, "memory": 64 << 20, "storage": 0, "rack": "12"},
        "spec": {
            "command": ["align", "{value}"],
            "env": {"WEFT_ARRAY_VALUE": "NA12878"},
            "timeout_s": 90.0,
        },
        "progress": {"percent": 40.5, "text": "\x1b[2J4\n", "at": "2026-10-01T12:00:00Z"},
    }
    _print_job(job, None, "", None)

    shown = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert shown["Progress"].startswith("40.5 %, \ufffd[2J4 (2026-10-01")
    assert shown.items() >= {
        ("Queue", "short"),
        ("Needs", "0.25 cpu, 64.0 MiB memory, rack=12"),
        ("Value", "NA12878"),
        ("Time limit", "1:30"),
    }


@cases(
    ("state", "attempt", "words"),
    [
        ("running", 2, "40 %, epoch 4"),
        ("running", 3, "40 %, epoch 4, in attempt 2"),
        ("ready", 2, "40 %, epoch 4, in attempt 2"),
        ("failed", 2, "exit code 3"),
    ],
)
def test_a_list_says_how_far_a_job_is(state: str, attempt: int, words: str) -> None:
    """What an earlier attempt said is shown as that."""
    said = {"percent": 40.0, "text": "epoch 4", "attempt": 2}
    phase = "executing" if state in {"running", "ready"} else None
    job = {
        "state": state,
        "attempt": attempt,
        "phase": phase,
        "progress": said,
        "reason": "exit",
        "exit_code": 3,
    }
    assert why_of(job) == words


def test_a_line_has_one_name_wherever_it_is_read() -> None:
    """Only routes, codes and fields say `setup`."""
    guides = {path: path.read_text() for path in (ROOT / "docs" / "guides").glob("*.md")}
    source = ROOT / "src" / "weft"
    pages = {
        path: re.sub(r"{[{%].*?[%}]}", "", path.read_text()) for path in source.rglob("*.html")
    }
    refusals = {
        path: " ".join(re.findall(r"'[^']*'", " ".join(re.findall(r"_fail\([^;]*", text))))
        for path in source.rglob("*.sql")
        if "_fail(" in (text := path.read_text())
    }
    words = source / "cli" / "completion" / "command_words.json"
    read = {**guides, **pages, **refusals, words: words.read_text()}

    other = re.compile(r"(?<!make )\bsetup\b", re.IGNORECASE)
    assert [path for path, text in read.items() if other.search(text)] == []


def test_each_command_is_known_to_read_or_not() -> None:
    """What reads is asked where a secret must not be told: a new command is not forgotten."""
    assert READING.keys() | OTHERS == {" ".join(one) for one in COMMANDS}
