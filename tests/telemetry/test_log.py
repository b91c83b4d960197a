import json
import logging
import os
import select
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from weft.telemetry import log, metrics
from weft.telemetry.trace import bind


class Output:
    """A file that takes the log of a test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]


@pytest.fixture
def output(tmp_path: Path) -> Iterator[Output]:
    result = Output(tmp_path / "log")
    yield result
    os.close(result.fd)


def test_line_holds_event_role_and_facts(output: Output) -> None:
    log.configure(level="info", format="json", role="driver", fd=output.fd)
    log.log.info("role.started", version="1", home=Path("x"))

    (line,) = output.lines()

    assert line.pop("at").endswith("Z")
    assert line == {
        "role": "driver",
        "pid": os.getpid(),
        "event": "role.started",
        "level": "info",
        "version": "1",
        "home": "PosixPath('x')",
    }


def test_level_hides_what_is_less_important(output: Output) -> None:
    log.configure(level="warning", format="json", role="api", fd=output.fd)
    log.log.info("role.started")

    assert output.lines() == []


def test_bound_facts_are_on_each_line_until_the_end_of_the_block(output: Output) -> None:
    log.configure(level="info", format="json", role="api", fd=output.fd)
    with bind(trace_id="t", job="b1.j7"):
        with bind(job="b1.j8"):
            log.log.info("role.started")
        log.log.info("role.started")
    log.log.info("role.started")

    assert [line.get("job") for line in output.lines()] == ["b1.j8", "b1.j7", None]


def test_console_form_is_text(output: Output) -> None:
    log.configure(level="info", format="console", role="up", fd=output.fd)
    log.log.info("role.started", version="1")

    assert "role.started" in output.path.read_text()
    assert "version=1" in output.path.read_text()


def test_auto_is_json_when_nobody_looks(output: Output) -> None:
    log.configure(level="info", format="auto", role="up", fd=output.fd)
    log.log.info("role.started")

    assert len(output.lines()) == 1


def test_name_that_is_not_utf8_is_written(output: Output) -> None:
    log.configure(level="info", format="json", role="up", fd=output.fd)
    log.log.info("role.started", home="\udcff")

    assert output.lines()[0]["home"] == "'\\udcff'"


def test_exception_is_on_the_line(output: Output) -> None:
    log.configure(level="info", format="json", role="up", fd=output.fd)
    try:
        int("a reason")
    except ValueError:
        log.log.exception("role.failed")

    assert "ValueError: invalid literal" in output.lines()[0]["exception"]


def test_warning_of_a_library_becomes_a_line(output: Output) -> None:
    log.configure(level="info", format="json", role="api", fd=output.fd)
    logging.getLogger("somebody").warning("so %s", "what")

    (line,) = output.lines()

    assert (line["event"], line["logger"], line["message"], line["level"]) == (
        "library.logged",
        "somebody",
        "so what",
        "warning",
    )


def test_line_that_cannot_be_written_is_counted_and_fails_nobody() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    before = metrics.REGISTRY.get_sample_value("weft_log_lines_lost_total") or 0
    log.configure(level="info", format="json", role="api", fd=writing)
    log.log.info("role.started")
    os.close(writing)

    assert metrics.REGISTRY.get_sample_value("weft_log_lines_lost_total") == before + 1


def test_a_traceback_on_the_console_shows_no_values(output: Output) -> None:
    log.configure(level="info", format="console", role="api", fd=output.fd)
    password = "hunter" + "2"
    try:
        int(password)
    except ValueError:
        log.log.exception("role.failed")

    text = output.path.read_text()
    assert "Traceback" in text
    assert "password = 'hunter2'" not in text


def test_facts_make_no_lines_and_do_not_steer_the_console(output: Output) -> None:
    log.configure(level="info", format="console", role="up", fd=output.fd)
    hostile = "a\x1b[2Jb\r\u202ec\x9b2J\n2026-01-01 [info] role.stopped"
    log.log.info("role.started", home=hostile, error=hostile, hint=hostile)
    log.log.info("role.started", home="x\x1b[2J")  # nothing that would be quoted
    text = output.path.read_bytes().decode()

    assert not set(text) & {"\x1b", "\r", "\u202e", "\x9b"}
    assert r"a\x1b[2Jb\r\u202ec\x9b2J" in text
    assert not any(line.startswith("2026-01-01 ") for line in text.split("\n"))


def test_facts_make_no_lines_of_json(output: Output) -> None:
    log.configure(level="info", format="json", role="up", fd=output.fd)
    hostile = 'a\n{"event":"role.stopped"}\r\x1b[2J\0\x9b2J\x7f\x85\u2028b\u202ec\u2066d\u061ce é'
    log.log.info("role.started", home=hostile)
    log.log.info("role.started", home=f"{hostile}\udc80")

    first, second = output.lines()
    text = output.path.read_bytes().decode()
    assert first["home"] == hostile
    assert second["home"] == ascii(f"{hostile}\udc80")
    assert not set(text) & set("\x1b\x9b\x7f\x85\u2028\u202e\u2066\u061c")
    assert len(text.splitlines()) == 2


def test_lines_written_together_come_whole_in_pieces_that_a_pipe_does_not_part() -> None:
    reading, writing = os.pipe2(os.O_DIRECT)  # each write is read by itself
    log.configure(level="info", format="json", role="driver", fd=writing)

    with log.lines_together():
        for n in range(100):
            log.log.info("role.started", version=str(n))
    log.log.info("role.stopped")

    pieces: list[bytes] = []
    while not pieces or b"role.stopped" not in pieces[-1]:
        pieces.append(os.read(reading, 1 << 16))
    os.close(reading)
    os.close(writing)
    lines = [json.loads(line) for line in b"".join(pieces[:-1]).splitlines()]
    assert [line["version"] for line in lines] == [str(n) for n in range(100)]
    assert 1 < len(pieces) < 10
    assert all(piece.endswith(b"\n") and len(piece) <= select.PIPE_BUF for piece in pieces)
