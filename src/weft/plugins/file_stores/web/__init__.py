"""Fetch what web servers have, by anybody's address: over HTTP/1.1, in bounded memory.

Each address is checked when it is asked, as for callbacks, those to which a server redirects, too.
A broken connection goes on where it broke, if the server tells versions and knows ranges.
"""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from weft.core.deliveries.callback_url import parse_callback_url
from weft.net.exchange import AnswerHead, redirection
from weft.plugins.file_stores.s3.carrying import HttpCarrier, strong
from weft.ports.file_store import FileDiffers, FileMissing, FileRefused, Head, StoreAway

_MOVES_MAX: Final = 5
_TRIES: Final = 4
_OK: Final = 200
_PART: Final = 206
_SAME: Final = 304
_MISSING: Final = frozenset({404, 410})
_LATER: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_ALWAYS: Final = (("Accept", "*/*"), ("Accept-Encoding", "identity"), ("User-Agent", "weft"))


@dataclass(frozen=True)
class WebFiles:
    """Fetches files."""

    carrier: HttpCarrier

    async def read(self, url: str, head: Head | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes of a file."""
        head = head or Head()
        known = head.known
        done, version, tries, moves = 0, "", 0, 0
        while True:
            before, moved = done, None
            again = [("If-None-Match", known)] if known else []
            if done:
                again = [("Range", f"bytes={done}-"), ("If-Range", version)]
            try:
                async with self.carrier.asked("GET", url, [*_ALWAYS, *again]) as exchange:
                    answer = await exchange.head()
                    if moved := redirection(url, answer.status, answer.get("location")):
                        moves += 1
                        url = _checked(url, moved, moves)
                    elif answer.status == _SAME and known and not done:
                        head.is_known = _place(url) == head.found_at
                        if head.is_known:
                            return
                        known = ""  # the version of something else
                        continue
                    else:
                        _check(answer, done)
                        version = strong(answer.get("etag"))
                        if not done:
                            _note(head, answer, version, url)
                        async for piece in exchange.pieces():
                            done += len(piece)
                            yield piece
            except StoreAway:
                tries = tries + 1 if done == before else 0
                if not done or not version or tries >= _TRIES:
                    raise
                continue
            if moved is None:
                return


def _check(answer: AnswerHead, done: int) -> None:
    status = answer.status
    if status == (_PART if done else _OK):
        if done and not answer.get("content-range").startswith(f"bytes {done}-"):
            raise FileRefused("its server answers with another range than it was asked for")
        return
    if status in _LATER:
        raise StoreAway(f"its server answers with {status}")
    if status in _MISSING:
        raise FileMissing(f"its server answers with {status}")
    if done and status in {_OK, 412, 416}:
        raise FileDiffers("it was changed while it was fetched")
    raise FileRefused(f"its server refuses it ({status})")


def _note(head: Head, answer: AnswerHead, version: str, url: str) -> None:
    may_keep = "no-store" not in answer.get("cache-control").lower()
    head.version, head.n_bytes = version if may_keep else "", answer.n_bytes
    head.found_at = _place(url)


def _place(url: str) -> str:
    """Return what stands for an address, which itself may hold what opens it."""
    return hashlib.sha256(url.encode()).hexdigest()


def _checked(url: str, following: str, moves: int) -> str:
    """Return where a server redirects to. Raise `FileRefused`."""
    if moves > _MOVES_MAX:
        raise FileRefused(f"its server redirects more than {_MOVES_MAX} times")
    try:
        is_less_safe = parse_callback_url(following).scheme != parse_callback_url(url).scheme
    except ValueError as error:
        raise FileRefused(f"its server redirects to what is no address: {error}") from error
    if is_less_safe and url.startswith("https:"):
        raise FileRefused("its server redirects from https to http")
    return following
