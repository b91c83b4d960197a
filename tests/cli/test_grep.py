"""Lines of jobs: chosen by a pattern in bounded time, and never mixed."""

import os
import pty
import re
import signal
from collections.abc import Sequence

import pytest

from cases import cases
from weft.cli.terminal import grep, job_lines
from weft.cli.terminal.grep import Grep, PatternTooSlow
from weft.cli.terminal.job_lines import JobLines


@cases(
    ("pattern", "chosen"),
    [
        ("error", [b"an error", b"\x1b[31mer\x1b[0mror"]),
        ("^e", [b"\x1b[31mer\x1b[0mror"]),
        ("(?i)FINE$", [b"fine"]),
        ("\ufffd", [b"\xff"]),
    ],
)
def test_lines_with_a_pattern(pattern: str, chosen: Sequence[bytes]) -> None:
    lines = [b"an error", b"fine", b"\x1b[31mer\x1b[0mror", b"\xff"]

    assert Grep(pattern).choose(lines) == chosen


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$", r"(.*a){20}x"])
def test_pattern_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch, pattern: str) -> None:
    monkeypatch.setattr(grep, "CPU_S_MAX", 0.05)
    before = signal.getsignal(signal.SIGVTALRM)

    with pytest.raises(PatternTooSlow, match=re.escape(pattern)) as refused:
        Grep(pattern).choose([b"a" * 60 + b"b"])
    assert refused.value.code == "CLI.PATTERN_TOO_SLOW"
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) == before


@cases("pattern", ["(", "*", "a{2,1}", "(?P<x", "[z-a]"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="is no regular expression"):
        Grep(pattern)


def test_lines_of_two_jobs_do_not_mix(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, pipe = os.pipe()
    monkeypatch.setattr(job_lines, "STDOUT", pipe)
    monkeypatch.setattr(job_lines, "LINE_BYTES_MAX", 20)
    first, second = JobLines("b1.j1", 1), JobLines("b1.j2", 2, grep=Grep("keep"))
    first.write(pipe, b"one\nhal")
    second.write(pipe, b"drop\nkeep th")
    first.write(pipe, b"f\n")
    second.write(pipe, b"is\nkeep the end")
    first.write(pipe, b"x" * 21)
    first.end()
    second.end()
    os.close(pipe)
    with os.fdopen(reader, "rb") as file:
        shown = file.read()

    assert shown.decode() == (
        "b1.j1: one\nb1.j1: half\nb1.j2: keep this\nb1.j1: " + "x" * 21 + "\nb1.j2: keep the end\n"
    )


@pytest.mark.parametrize(("no_color", "term"), [("", "xterm"), ("1", "xterm"), ("", "dumb")])
def test_terminal_gets_colours_that_end_with_the_line(
    monkeypatch: pytest.MonkeyPatch, no_color: str, term: str
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", term)
    master, terminal = pty.openpty()
    monkeypatch.setattr(job_lines, "STDOUT", terminal)
    monkeypatch.setattr("weft.cli.terminal.job_lines.STDOUT", terminal)
    lines = JobLines("b1.j1", 1)
    lines.write(terminal, b"\x1b[31mred\x1b[2J\n 5%\r50%\rb1.j2: not this\r100%\r\n")
    lines.end()
    shown = ""
    while shown.count("\n") < 2:  # it may come in pieces
        shown += os.read(master, 200).decode()
    for descriptor in (master, terminal):
        os.close(descriptor)

    name = "b1.j1:" if no_color or term == "dumb" else "\x1b[33mb1.j1:\x1b[0m"
    assert shown == f"{name} \x1b[31mred\ufffd[2J\x1b[0m\r\n{name} 100%\r\n"
