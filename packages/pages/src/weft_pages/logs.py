"""`/ui/batches/{b}/jobs/{j}/log`: what a job wrote, window by window, and live while it runs; and
the pieces of a log as HTML.

Output of jobs as HTML: its colours as classes, and nothing else of it but text.

What comes out holds `<span class="…">` with the names of `_class_of`, `</span>`, and escaped text
without control characters.
"""

import codecs
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

from weft.api.calls.path_ids import ATTEMPTS_MAX
from weft.api.http.pages import NO_MOMENT, get_page, link, show
from weft.api.http.parameter_schemas import STREAMS
from weft.api.http.parameters import Query, batch_id_of, job_id_of, wrong_parameter
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Redirect, Response, Stream
from weft.api.http.sse import KEEP_ALIVE, message, stream_reply
from weft.api.use_cases import read
from weft.api.use_cases.follow import End, Followed, Follower, FollowPosition, Gap, Written
from weft.api.use_cases.log_windows import WINDOW_BYTES, Found, LogWindows, Window
from weft.api.use_cases.output import Outputs, missing_output
from weft.core.access.rights import Right
from weft.core.states import ENDED_WORDS
from weft.core.text.amounts import size
from weft.core.text.escapes import ESCAPE, begun_sequence
from weft.ports.log_store import AttemptLog
from weft.telemetry import metrics
from weft.wire.log_format import CUT, CUT_BODY, STDERR, STDOUT, Piece, encode_cut

_CODES_MAX: Final = 32
"""Of one sequence; further ones are passed over."""
_FLAGS: Final = {1: "bold", 2: "dim", 3: "italic", 4: "under", 7: "inverse", 9: "strike"}
_ENDS: Final = {0: tuple(_FLAGS), 22: (1, 2), 23: (3,), 24: (4,), 27: (7,), 29: (9,)}
_COLOURS: Final = {
    base + one: (side, one + bright)
    for base, side, bright in (
        (30, "front", 0),
        (40, "back", 0),
        (90, "front", 8),
        (100, "back", 8),
    )
    for one in range(8)
} | {39: ("front", None), 49: ("back", None)}
_EXTENDED: Final = {38: "front", 48: "back"}
_OF_256, _OF_RGB = 5, 2
_STEPS: Final = (0, 95, 135, 175, 215, 255)
_PALETTE: Final = (
    *((128 * (n & 1), 128 * (n >> 1 & 1), 128 * (n >> 2)) for n in range(7)),
    (192, 192, 192),
    (128, 128, 128),
    *((255 * (n & 1), 255 * (n >> 1 & 1), 255 * (n >> 2)) for n in range(1, 8)),
    *((red, green, blue) for red in _STEPS for green in _STEPS for blue in _STEPS),
    *((8 + 10 * n,) * 3 for n in range(24)),
)
"""The 256 colours of terminals; the first 16 are those that we have."""
_N_OWN: Final = 16
_STATE: Final = re.compile(
    r"(?:f([0-9]{1,2}))?(?:b([0-9]{1,2}))?((?:t[123479])*)(?:_((?:[0-9a-f]{2}){1,70}))?"
)


@dataclass(frozen=True)
class Style:
    """How the text after a sequence looks."""

    front: int | None = None
    """One of 16 colours; None: the usual one."""
    back: int | None = None
    flags: tuple[int, ...] = ()

    def then(self, codes: str) -> "Style":
        """Return the style after a colour sequence with these codes. Colours of larger palettes
        become the nearest of 16; unknown codes change nothing.
        """
        style = self
        given = iter([int(one[:4] or 0) for one in re.split("[;:]", codes)[:_CODES_MAX]])
        for code in given:
            if code in _ENDS:
                left = tuple(flag for flag in style.flags if flag not in _ENDS[code])
                style = replace(style, flags=left) if code else Style()
            elif code in _FLAGS:
                style = replace(style, flags=tuple(sorted({*style.flags, code})))
            elif code in _EXTENDED:
                style = _coloured(style, _EXTENDED[code], _extended(given))
            elif code in _COLOURS:
                style = _coloured(style, *_COLOURS[code])
        return style

    @property
    def classes(self) -> str:
        """Return the classes of the span, or nothing."""
        names = [] if self.front is None else [f"a-f{self.front}"]
        names += [] if self.back is None else [f"a-b{self.back}"]
        return " ".join([*names, *(f"a-{_FLAGS[flag]}" for flag in self.flags)])


class TerminalText:
    """Turns one stream, which comes in pieces, into HTML. What may be the begin of a sequence or a
    character waits for its end.
    """

    def __init__(self, state: str = "") -> None:
        """`state`: what another one had reached. Raise `ValueError` if it is malformed."""
        match = _STATE.fullmatch(state)
        if match is None:
            raise ValueError(state)
        front, back = (None if one is None else int(one) % _N_OWN for one in match.group(1, 2))
        flags = tuple(sorted({int(one) for one in match[3].replace("t", " ").split()}))
        self._style = Style(front, back, flags)
        self._waiting = bytes.fromhex(match[4] or "")

    @property
    def state(self) -> str:
        """Return what it needs to go on elsewhere: style and what waits."""
        style = self._style
        front = "" if style.front is None else f"f{style.front}"
        back = "" if style.back is None else f"b{style.back}"
        waiting = f"_{self._waiting.hex()}" if self._waiting else ""
        return front + back + "".join(f"t{flag}" for flag in style.flags) + waiting

    def feed(self, data: bytes, *, is_last: bool = False) -> Markup:
        """Return the next piece."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(self._waiting + data, is_last)
        rest = "" if is_last else begun_sequence(text) or text[len(text.rstrip("\r")) :][:1]
        self._waiting = rest.encode() + decoder.getstate()[0]
        text = text.removesuffix(rest).replace("\r\n", "\n").replace("\r", "\n")
        found, at = [], 0
        for match in ESCAPE.finditer(text):
            found.append(self._span(text[at : match.start()]))
            at = match.end()
            if match["colour"] is not None:
                self._style = self._style.then(match["colour"])
            elif match["sequence"] is None:
                found.append(Markup("\ufffd"))
        found.append(self._span(text[at:]))
        return Markup("").join(found)

    def _span(self, text: str) -> Markup:
        classes = self._style.classes if text else ""
        if not classes:
            return escape(text)
        return Markup('<span class="{}">{}</span>').format(classes, text)


def terminal_html(data: bytes) -> Markup:
    r"""Return a whole output as HTML.

    >>> str(terminal_html(b"\x1b[31m<b>\x1b[0m\x1b[2J\a"))
    '<span class="a-f1">&lt;b&gt;</span>\ufffd'
    """
    return TerminalText().feed(data, is_last=True)


def _coloured(style: Style, side: str, colour: int | None) -> Style:
    if side == "front":
        return replace(style, front=colour)
    return replace(style, back=colour)


def _extended(codes: Iterator[int]) -> int | None:
    """Read a colour of a larger palette; return the nearest of 16."""
    kind = next(codes, None)
    if kind == _OF_256:
        number = next(codes, len(_PALETTE))
        return _nearest(*_PALETTE[number]) if number < len(_PALETTE) else None
    if kind == _OF_RGB:
        red, green, blue = (next(codes, 0) for _ in range(3))
        return _nearest(red, green, blue)
    return None


@lru_cache(maxsize=1024)
def _nearest(*wanted: int) -> int:
    def distance(number: int) -> int:
        return sum((a - b) ** 2 for a, b in zip(wanted, _PALETTE[number], strict=True))

    return min(range(_N_OWN), key=distance)


_CUT: Final = Markup('<span class="cut">[{} left out]</span>\n')
_STDERR: Final = Markup('<span class="err">{}</span>')


class LogText:
    """Both streams of an attempt, each with its own colours; what went to standard error is marked
    where both are shown.
    """

    def __init__(self, stdout: str = "", stderr: str = "", *, is_marked: bool = True) -> None:
        """`stdout`, `stderr`: what another one had reached. Raise `ValueError`."""
        self._stdout, self._stderr = TerminalText(stdout), TerminalText(stderr)
        self._is_marked = is_marked

    @property
    def state(self) -> str:
        """Return what both streams have reached."""
        return f"{self._stdout.state}.{self._stderr.state}"

    def feed(self, pieces: Iterable[Piece]) -> Markup:
        """Return the next pieces."""
        found = []
        for kind, _, data in pieces:
            if kind == CUT:
                _, n_bytes, _ = CUT_BODY.unpack(data)
                found.append(_CUT.format(escape(size(n_bytes) or "something")))
            elif kind == STDERR:
                text = self._stderr.feed(data)
                found.append(_STDERR.format(text) if self._is_marked and text else text)
            else:
                found.append(self._stdout.feed(data))
        return Markup("").join(found)

    def end(self) -> Markup:
        """Return what waited for more."""
        return self._stdout.feed(b"", is_last=True) + self._stderr.feed(b"", is_last=True)


TEXT_CHARS_MAX: Final = 200
_PLACE_MAX: Final = 1 << 50
_PARTS: Final = 10
_WINDOW: Final = ("attempt", "stream", "at", "end", "q", "from", "errors")
_LIVE: Final = ("attempt", "stream", "from")
_POSITION: Final = re.compile(
    r"([0-9]{1,9})\.([0-9]{1,12})\.([0-9a-z_]{0,160})\.([0-9a-z_]{0,160})"
)
_KINDS: Final = {"stdout": STDOUT, "stderr": STDERR}


class _Asked:
    """Which window of which log a request wants."""

    def __init__(self, request: AnyRequest) -> None:
        query = request.query
        self._path = f"/ui/batches/{batch_id_of(request)}/jobs/{job_id_of(request)}/log"
        self.attempt = query.integer("attempt", default=None, least=1, most=ATTEMPTS_MAX)
        self.stream = query.choice("stream", STREAMS)
        self.at, self.end, self.start = (_offset(query, name) for name in ("at", "end", "from"))
        self.q, self.wants_error = _text_of(query), query.flag("errors")

    @property
    def is_end(self) -> bool:
        """Whether it wants the last window, which goes on by itself."""
        return self.at is None and self.end is None

    def to(self, **parameters: str | int | None) -> str:
        """Return the address of another window, by default of this stream and attempt."""
        chosen = {"attempt": self.attempt, "stream": self.stream}
        given = {**chosen, **parameters}
        return link(self._path, {name: str(v) for name, v in given.items() if v is not None})

    @property
    def live(self) -> str:
        """Return the address of what comes."""
        attempt = None if self.attempt is None else str(self.attempt)
        return link(f"{self._path}/live", {"attempt": attempt, "stream": self.stream})


@dataclass(frozen=True)
class _Shown:
    """What a page of a log shows of it."""

    text: Markup | str = ""
    window: Window | None = None
    live: str | None = None
    """Where its live continuation begins; None: there is none."""
    found: Found | None = None
    no_error: Found | None = None
    """A search that found no error."""


@get_page("/ui/batches/{b:str}/jobs/{j:str}/log", Right.READ, opt=NO_MOMENT, query=_WINDOW)
async def show_log(request: AnyRequest) -> Response[bytes] | Redirect:
    """Show a window of a log: that which begins `at` a byte or ends at `end`, else the last one.
    `q`: also the lines with this text, `from` a byte on; `errors`: lead to the first error.
    """
    asked = _Asked(request)
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    services, caller = request.services, request.caller
    job = await read.get_job(services, caller, batch_id, job_id)
    log = await Outputs(services, caller, batch_id).find(job_id, asked.attempt)
    problem = None if log is None else missing_output(services.logs, log)
    if log is None:
        has_ended = job["state"] in ENDED_WORDS
        shown = _Shown(live="0.0.." if asked.is_end and not has_ended else None)
    elif problem is None:
        shown = await _window(log, LogWindows(services.logs, log, asked.stream), asked)
    else:
        shown = _Shown()
    if shown.no_error is not None and shown.no_error.hits:
        return Redirect(asked.to(at=shown.no_error.hits[0].at), status_code=303)
    return show(
        request,
        "log.html",
        here="/ui/batches",
        events="",
        job=job,
        sees_batch=await services.store.sees_batch(caller, batch_id),
        attempts=await services.store.list_attempts(caller, batch_id, job_id),
        log=log,
        asked=asked,
        shown=shown,
        problem=problem,
        line=_line,
        jumps=_jumps(shown.window),
    )


async def _window(log: AttemptLog, windows: LogWindows, asked: _Asked) -> _Shown:
    if asked.wants_error:
        no_error = await windows.find_error(asked.start or 0)
        if no_error.hits:
            return _Shown(no_error=no_error)
    else:
        no_error = None
    found = await windows.find(asked.q, asked.start or 0) if asked.q else None
    at = found.hits[0].at if found and found.hits and asked.is_end else asked.at
    window = await (windows.before(asked.end) if at is None else windows.at(at))
    text = _text(asked.stream)
    html = text.feed(window.pieces)
    is_live = at is None and asked.end is None and not log.ended
    live = f"{log.attempt}.{window.extent.n_pieces}.{text.state}" if is_live else None
    return _Shown(html if is_live else html + text.end(), window, live, found, no_error)


@get_page("/ui/batches/{b:str}/jobs/{j:str}/log/live", Right.READ, opt=NO_MOMENT, query=_LIVE)
async def stream_log(request: AnyRequest) -> Stream:
    """Send what a job writes as HTML, from where a page or an earlier stream has stopped."""
    query = request.query
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    services, caller = request.services, request.caller
    wanted = query.integer("attempt", default=None, least=1, most=ATTEMPTS_MAX)
    stream = query.choice("stream", STREAMS)
    position, text = _position(
        request.headers.get("last-event-id") or query.text("from") or "0.0..", stream
    )
    await Outputs(services, caller, batch_id).find(job_id, wanted)  # the status tells of no such
    only = None if stream == STREAMS[0] else stream
    follower = Follower(services, caller, batch_id, job_id, wanted, only, position)
    return stream_reply(_messages(follower.items(), position.attempt, text, stream))


async def _messages(
    items: AsyncGenerator[Sequence[Followed]], attempt: int, text: LogText, stream: str
) -> AsyncIterator[bytes]:
    with metrics.HTTP_STREAMS.labels("log").track_inprogress():
        yield b": connected\n\n"
        async with aclosing(items):
            async for found in items:
                if not found:
                    yield KEEP_ALIVE
                for item in found:
                    if isinstance(item, End):
                        yield message({"html": str(text.end())})
                        yield message(item.facts, kind="end")
                        return
                    position = item.position
                    if position.attempt != attempt:
                        if attempt:
                            yield message({"attempt": position.attempt}, kind="attempt")
                        attempt, text = position.attempt, _text(stream)
                    html = text.feed([_piece(item)])
                    id_ = f"{position.attempt}.{position.n_pieces}.{text.state}"
                    yield message({"html": str(html)}, id_=id_)


def _piece(item: Written | Gap) -> Piece:
    kind = _KINDS[item.stream]
    if isinstance(item, Gap):
        return encode_cut(kind, 0, item.n_bytes, 0)
    return Piece(kind, 0, item.data)


def _text(stream: str, stdout: str = "", stderr: str = "") -> LogText:
    return LogText(stdout, stderr, is_marked=stream == STREAMS[0])


def _position(given: str, stream: str) -> tuple[FollowPosition, LogText]:
    match = _POSITION.fullmatch(given)
    try:
        if match is not None:
            position = FollowPosition(int(match[1]), int(match[2]))
            return position, _text(stream, match[3], match[4])
    except ValueError:
        pass
    raise wrong_parameter("from", f"{given[:40]!r} is not a position in a log")


def _text_of(query: Query) -> str | None:
    text = query.text("q") or None
    if text is not None and len(text) > TEXT_CHARS_MAX:
        raise wrong_parameter("q", f"at most {TEXT_CHARS_MAX} characters")
    return text


def _offset(query: Query, name: str) -> int | None:
    return query.integer(name, default=None, least=0, most=_PLACE_MAX)


def _jumps(window: Window | None) -> list[tuple[int, int]]:
    """Return offsets to jump to, in percent and bytes; none in a log of one window."""
    if window is None or window.size <= WINDOW_BYTES:
        return []
    return [(100 * n // _PARTS, window.size * n // _PARTS) for n in range(1, _PARTS)]


def _line(excerpt: bytes) -> str:
    """Return a line that was found, without colours: it may begin within one."""
    return terminal_html(excerpt).striptags()
