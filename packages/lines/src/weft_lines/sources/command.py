"""The source `command`: a program that prints items, a JSON object with a key on each line.

Only programs that the site names are run. One that does not end in time is killed; what it left
running ends with the process in which this source is read.
"""

import os
import re
import selectors
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any, Final

from weft.core.bounded import read_json
from weft.ports.line_kinds import CHARS_MAX, Mistakes, Option, SourceKind, wrong_program
from weft.ports.source import READING_BYTES_MAX, Reading, SourceFailed, SourceSite, item_of

CURSOR_VARIABLE: Final = "WEFT_CURSOR"
CURSOR_CHARS_MAX: Final = 1000
_WORDS_MAX: Final = 50
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")
_PIECE_BYTES: Final = 1 << 16
_SAID_BYTES: Final = 4096
_SAID_CHARS_MAX: Final = 250
_KILLED_AFTER_S: Final = 5.0
"""Before the process of the source would be, with the whole time of a reading."""


def _is_command(given: object) -> str:
    words = [given] if isinstance(given, str) else given
    if (
        isinstance(words, list)
        and 1 <= len(words) <= _WORDS_MAX
        and all(isinstance(word, str) and len(word) <= CHARS_MAX for word in words)
        and not any("\0" in word for word in words)
        and _WORD.fullmatch(words[0])
    ):
        return ""
    return (
        "it should be the name of a program of the setting source_commands, or a list of that and "
        "its arguments"
    )


def _reach(site: SourceSite, options: Mapping[str, Any]) -> Mistakes:
    words = options["command"]
    name = words if isinstance(words, str) else words[0]
    return {"command": wrong_program(site, "source_commands", name)}


KIND: Final = SourceKind({"command": Option(_is_command, needed=True)}, reach=_reach)


class CommandSource:
    """Runs the program once for each reading."""

    def read(
        self, options: Mapping[str, Any], cursor: Mapping[str, Any] | None, site: SourceSite
    ) -> Reading:
        """Read once. What one reading cannot take, the next one skips to."""
        state = {"said": "", "skip": 0, **(cursor or {})}
        lines = _printed(options, str(state["said"]), site)
        said, items = str(state["said"]), []
        for line in lines:
            found = _parsed(line)
            if isinstance(found, dict) and found.keys() == {"cursor"}:
                said = str(found["cursor"])[:CURSOR_CHARS_MAX]
            else:
                said_instead = line.decode(errors="replace")[:_SAID_CHARS_MAX]
                items.append(item_of(said_instead if found is None else found, {}))
        skip = int(state["skip"])
        taken = items[skip : skip + site.items_max]
        if more := skip + len(taken) < len(items):
            return Reading(taken, {"said": state["said"], "skip": skip + len(taken)}, more=more)
        return Reading(taken, {"said": said, "skip": 0})


def _parsed(line: bytes) -> object:
    try:
        return read_json(line)
    except ValueError:
        return None


def _printed(options: Mapping[str, Any], cursor: str, site: SourceSite) -> Sequence[bytes]:
    """Return the lines that a program prints. Raise `SourceFailed`."""
    given = options["command"]
    name, *words = [given] if isinstance(given, str) else given
    program = site.commands.get(name)
    if program is None:
        raise SourceFailed(f"there is no command {name!r} in the setting source_commands")
    within_s = max(site.timeout_s - _KILLED_AFTER_S, site.timeout_s / 2)
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                [program, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd="/",
                env={**os.environ, CURSOR_VARIABLE: cursor},
            )
        except OSError as error:
            raise SourceFailed(f"command {name}: {error.strerror}") from error
        try:
            assert process.stdout is not None
            body = _until_end(process.stdout, time.monotonic() + within_s, within_s)
            code = process.wait(timeout=_KILLED_AFTER_S)
        except subprocess.TimeoutExpired as error:
            raise SourceFailed(f"it did not end within {within_s:g} s") from error
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        if code != 0:
            raise SourceFailed(f"it ended with {code}{_last_line(errors)}")
    return [line for line in body.splitlines() if line.strip()]


def _until_end(pipe: IO[bytes], deadline: float, within_s: float) -> bytes:
    body = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if not selector.select(max(deadline - time.monotonic(), 0)):
                raise SourceFailed(f"it did not end within {within_s:g} s")
            piece = os.read(pipe.fileno(), _PIECE_BYTES)
            if not piece:
                return bytes(body)
            body += piece
            if len(body) > READING_BYTES_MAX:
                raise SourceFailed(f"it printed more than {READING_BYTES_MAX >> 20} MiB")


def _last_line(errors: IO[bytes]) -> str:
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(size - _SAID_BYTES, 0))
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return f": {lines[-1][:_SAID_CHARS_MAX]}" if lines else ""
