"""Jobs that differ from one before by their number and command only, as those of most large
bunches do: nothing else of them is read.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw, Struct

from weft.wire.documents.foreign_jobs import ForeignJob

_NUMBER: Final = re.compile(rb'"job_id":\s*([1-9][0-9]*)(?=[,}\s])')
_COMMAND: Final = re.compile(rb'"command":\s*(?=\[)')
_MARKS: Final = (-1, ["a mark"])
_WRONG: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _Process(Struct, gc=False):
    command: Raw


class _Spec(Struct, gc=False):
    process: _Process


_DECODER: Final = msgspec.json.Decoder(_Spec)
_WORDS: Final = msgspec.json.Decoder(tuple[str, ...])
_COMMANDS: Final = msgspec.json.Decoder(list[tuple[str, ...]])


class Alike(NamedTuple):
    """What the specs of such jobs share."""

    before: bytes
    """What stands before the number."""
    between: bytes
    """What stands between the number and the command."""
    after: bytes
    job: ForeignJob
    """The job of one of them."""

    def read(self, specs: Sequence[bytes], first: int) -> list[ForeignJob]:
        """Return the jobs of the specs, which have the numbers from `first` on, up to one that is
        not like these or has another number.
        """
        words: list[bytes] = []
        for number, raw in enumerate(specs, start=first):
            begin = b"%b%d%b" % (self.before, number, self.between)
            if not raw.startswith(begin) or not raw.endswith(self.after):
                break
            words.append(raw[len(begin) : len(raw) - len(self.after)])
        jobs: list[ForeignJob] = []
        for command in _commands_of(words):
            # `copy` calls this, and takes three times as long.
            job: ForeignJob = self.job.__copy__()  # type: ignore[attr-defined]  # of every Struct
            job.command = command
            jobs.append(job)
        return jobs


def _commands_of(words: Sequence[bytes]) -> list[tuple[str, ...]]:
    """Return the commands up to one that is none. What is no value of JSON by itself, but stood in
    the place of one, is none within a list either.
    """
    try:
        return _COMMANDS.decode(b"[%b]" % b",".join(words))
    except _WRONG:
        pass
    found: list[tuple[str, ...]] = []
    with suppress(*_WRONG):
        for word in words:
            found.append(_WORDS.decode(word))  # noqa: PERF401 (those before a wrong one stay)
    return found


def alike_to(raw: bytes, job: ForeignJob) -> Alike | None:
    """Return what specs like this one share; None: they cannot be told apart.

    Number and command are looked for as text. So that they are taken for nothing else, a spec with
    other ones in their places must differ in these values alone.
    """
    number, command = _NUMBER.search(raw), _COMMAND.search(raw)
    if number is None or command is None or number.end() > command.start():
        return None
    if list(job.command or ()) == _MARKS[1]:
        return None  # it would be taken for the mark
    words = bytes(_DECODER.decode(raw).process.command)
    end = command.end() + len(words)
    found = Alike(raw[: number.start(1)], raw[number.end(1) : command.end()], raw[end:], job)
    marked = found.before + b"%d" % _MARKS[0] + found.between
    try:
        other = msgspec.json.decode(marked + msgspec.json.encode(_MARKS[1]) + found.after)
    except _WRONG:
        return None
    return found if other == _marked(msgspec.json.decode(raw)) else None


def _marked(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    number, command = _MARKS
    return {**spec, "job_id": number, "process": {**spec["process"], "command": command}}
