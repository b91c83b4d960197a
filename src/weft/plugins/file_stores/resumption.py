"""A file that comes in several answers: what was seen of it, and whether the next one goes on.

A server may know no conditions, no ranges, or neither: each answer is checked for itself.
"""

import re
from typing import Final

from weft.net.exchange import AnswerHead
from weft.net.foreign_http import Fields
from weft.ports.file_store import NotResumable, StoreAway

_TRIES: Final = 4
_PART: Final = 206
_RANGE: Final = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")
NOT_THE_SAME: Final = frozenset({412, 416})
"""Statuses by which a server says that the rest of what was begun is not there."""


class Resumption:
    """One file, from `start` on; `done`: how far it has come."""

    def __init__(self, start: int = 0) -> None:
        self.done = start
        self.version = ""
        """What names its bytes; empty: nothing does, so it cannot go on."""
        self.n_bytes: int | None = None
        """Of the whole file; None: its server does not say."""
        self._start = self._before = start
        self._is_begun = False
        self._is_repeated = False
        self._left_out = 0
        self._n_tries = 0

    @property
    def has_more(self) -> bool:
        """Say whether some bytes have come, so that the next answer must go on with them."""
        return self.done > self._start

    def fields(self, condition: str) -> Fields:
        """Return headers that ask for the rest, of this version: `If-Match` or `If-Range`."""
        part = [("Range", f"bytes={self.done}-")] if self.done else []
        return [*part, (condition, self.version)] if self.version and self.has_more else part

    def take_head(self, answer: AnswerHead) -> None:
        """Take the head of an answer that has bytes. Raise `NotResumable` unless they are those
        of the file that was begun, and follow what has come. What comes a second time is left out.
        """
        first, n_bytes = 0, answer.n_bytes
        if answer.status == _PART:
            match = _RANGE.fullmatch(answer.get("content-range"))
            if match is None or int(match[1]) != self.done:
                raise NotResumable("its server answers with another range than it was asked for")
            first, n_bytes = self.done, int(match[3]) if match[3].isdigit() else None
        version = strong(answer.get("etag"))
        if not self._is_begun:
            self.version, self.n_bytes, self._is_begun = version, n_bytes, True
        elif (
            not version
            or version != self.version
            or (n_bytes is not None and self.n_bytes is not None and n_bytes != self.n_bytes)
        ):
            raise NotResumable("it was changed while it was fetched")
        self._left_out = self.done - first
        self._is_repeated = self._left_out > 0

    def take(self, piece: bytes) -> bytes:
        """Return what is new of a piece."""
        known = min(self._left_out, len(piece))
        self._left_out -= known
        self.done += len(piece) - known
        return piece[known:] if known else piece

    def end(self) -> None:
        """Take the end of an answer. Raise `StoreAway` unless it is that of the file."""
        if self._left_out or (self.n_bytes is not None and self.done < self.n_bytes):
            raise StoreAway("its server ended its answer early")
        if self.n_bytes is not None and self.done > self.n_bytes:
            raise NotResumable("its server sent more bytes than it said")

    def break_off(self, error: StoreAway) -> None:
        """Take that a connection broke. Raise why not to ask for the rest."""
        has_gained = self.done > self._before and not self._is_repeated
        self._n_tries = 0 if has_gained else self._n_tries + 1
        self._before = self.done
        if isinstance(error, NotResumable) or not self.has_more or self._n_tries >= _TRIES:
            raise error
        if not self.version:
            raise NotResumable(str(error)) from error


def strong(etag: str) -> str:
    """Return a tag that stands for each byte; empty: this one does not."""
    return "" if etag.startswith("W/") else etag
