"""Fetch what web servers have, by anybody's address: over HTTP/1.1, in bounded memory.

Each address is checked when it is asked, as for callbacks, those to which a server redirects, too.
A broken connection goes on where it broke if the server tells versions; each answer is checked.
"""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from weft.core.deliveries.callback_url import parse_callback_url
from weft.net.exchange import AnswerHead, redirection
from weft.plugins.file_stores.resumption import NOT_THE_SAME, Resumption
from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.ports.file_store import FileMissing, FileRefused, Head, NotResumable, StoreAway

_MOVES_MAX: Final = 5
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
        head, file = head or Head(), Resumption()
        known, moves = head.known, 0
        while True:
            moved, again = None, file.has_more
            asked = [*file.fields("If-Range")]
            if known and not again:
                asked.append(("If-None-Match", known))
            try:
                async with self.carrier.asked("GET", url, [*_ALWAYS, *asked]) as exchange:
                    answer = await exchange.head()
                    if moved := redirection(url, answer.status, answer.get("location")):
                        if again:
                            raise NotResumable("it was moved while it was fetched")
                        moves += 1
                        url = _checked(url, moved, moves)
                    elif answer.status == _SAME and known and not again:
                        head.is_known = _place(url) == head.found_at
                        if head.is_known:
                            return
                        known = ""  # the version of something else
                        continue
                    else:
                        _check(answer, again=again)
                        file.take_head(answer)
                        if not again:
                            _note(head, answer, file.version, url)
                        async for piece in exchange.pieces():
                            if fresh := file.take(piece):
                                yield fresh
                        file.end()
            except StoreAway as error:
                file.break_off(error)
                continue
            if moved is None:
                return


def _check(answer: AnswerHead, *, again: bool) -> None:
    status = answer.status
    if status == _OK or (again and status == _PART):
        return
    if status in _LATER:
        raise StoreAway(f"its server answers with {status}")
    if status in _MISSING:
        raise FileMissing(f"its server answers with {status}")
    if again and status in NOT_THE_SAME:
        raise NotResumable("it was changed while it was fetched")
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
