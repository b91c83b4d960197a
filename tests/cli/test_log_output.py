"""Output of jobs on a terminal: colours and nothing else that would steer it."""

import asyncio
import os
import pty
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.cli.terminal import job_lines
from weft.cli.terminal.job_lines import Harmless, LogOutput
from weft.cli.terminal.raw_output import ending_when_closed
from weft.core.text.escapes import SEQUENCE_CHARS_MAX

HOSTILE = (
    "red \x1b[1;31mred\x1b[0m, title \x1b]0;root@bank\x07, clear \x1b[2J\x1b[H, clipboard "
    "\x1b]52;c;cm0=\x07, answer \x1b[6n\x1bc, C1 \x9b2J, bidi \u202eevil\u2066, bell\x07\b\x7f "
    "é\r\n"
)
SHOWN = (
    "red \x1b[1;31mred\x1b[0m, title �]0;root@bank�, clear �[2J�[H, clipboard "
    "�]52;c;cm0=�, answer �[6n�c, C1 �2J, bidi �evil�, bell��� é\r\n"
)


def harmless(pieces: list[bytes]) -> str:
    one = Harmless()
    found = [one.filter(piece) for piece in pieces] + [one.filter(b"", is_last=True)]
    return b"".join(found).decode()


@cases("size", [1, 2, 3, 7, 1000])
def test_pieces_of_any_size_are_harmless(size: int) -> None:
    data = HOSTILE.encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]

    assert harmless(pieces) == SHOWN


@given(st.lists(st.binary(max_size=20) | st.sampled_from([b"\x1b[", b"1;2", b"m", b"\x1b"])))
def test_nothing_is_kept_for_ever_and_only_colours_are_left(pieces: list[bytes]) -> None:
    import re  # noqa: PLC0415

    shown = harmless(pieces)

    assert "\x1b" not in re.sub("\x1b\\[[0-9;:]*m", "", shown)
    assert not set(shown) & {"\x07", "\x08", "\x9b", "\u202e"}


def test_sequence_without_end_does_not_wait() -> None:
    one = Harmless()
    begun = one.filter(b"a\x1b[1;")
    too_long = one.filter(b"1;" * SEQUENCE_CHARS_MAX)

    assert (begun, too_long[:4]) == (b"a", "�[".encode())


def read_until(descriptor: int, end: str) -> str:
    """Return what a terminal was given; it may come in pieces."""
    data = b""
    while not data.endswith(end.encode()):
        data += os.read(descriptor, 100)
    return data.decode()


def test_only_a_terminal_gets_it_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, pipe = os.pipe()
    master, terminal = pty.openpty()
    monkeypatch.setattr(job_lines, "STDOUT", pipe)
    monkeypatch.setattr(job_lines, "STDERR", terminal)
    output = LogOutput()
    for descriptor in (pipe, terminal):
        output.write(descriptor, b"a\x1b[2Jb\x1b[0m\x1b")
    output.end()

    assert os.read(reader, 100) == b"a\x1b[2Jb\x1b[0m\x1b"
    assert read_until(master, "m�") == "a�[2Jb\x1b[0m�"
    for descriptor in (reader, pipe, master, terminal):
        os.close(descriptor)


async def test_who_follows_ends_with_the_reader_of_a_pipe() -> None:
    """Also while no job writes anything, when no write could tell."""
    reader, pipe = os.pipe()
    asyncio.get_running_loop().call_soon(os.close, reader)

    async def follow() -> None:
        with ending_when_closed(pipe):
            await asyncio.wait_for(asyncio.Event().wait(), 10)

    with pytest.raises(BrokenPipeError):
        await follow()
    os.close(pipe)


SPEAKS = (
    "from weft.cli.terminal import raw_output; raw_output.open_streams();"
    "print('\\xe9\\u2026\\u4e16')"
)


def test_a_terminal_without_utf_8_shows_what_it_can_and_files_get_all() -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "LC_ALL": "POSIX",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    master, terminal = pty.openpty()
    command = [sys.executable, "-c", SPEAKS]
    subprocess.run(command, env=environment, check=True, stdout=terminal)
    piped = subprocess.run(command, env=environment, check=True, capture_output=True).stdout

    assert (read_until(master, "\n"), piped.decode()) == ("???\r\n", "é…世\n")
    os.close(terminal)
    os.close(master)
