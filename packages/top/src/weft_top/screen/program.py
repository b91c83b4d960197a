"""`weft top` on a terminal: one task loads what is shown, keys change it, each change is drawn."""

import asyncio
import codecs
import os
import re
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live

from weft.cli.terminal.interrupts import Interrupts
from weft.cli.terminal.plain import one_line, plain
from weft.client.api import Api
from weft.client.http.blocking import need_loop
from weft.core.access.rights import RIGHTS_OF, Right, UserRole, require
from weft.core.errors import Unavailable, WeftError
from weft.core.ids import format_job_ref
from weft_top.screen.actions import Action, action_of, right_of
from weft_top.screen.drawing import draw, help_lines
from weft_top.screen.lists import JOB_STATES, ROOTS, is_cut, is_live, load, opened, root
from weft_top.screen.state import Document, Screen, Search, View

STDIN = 0
ESCAPE_WAIT_S = 0.05
"""A lone Escape is a key if nothing follows within this time; else it begins another key."""
READ_BYTES = 1024
_NAMED = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
    "\x1b[H": "home",
    "\x1b[F": "end",
    "\x1bOH": "home",
    "\x1bOF": "end",
    "\x1b[1~": "home",
    "\x1b[4~": "end",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x1b": "escape",
    "\x15": "clear",
}
_KEY = re.compile("\x1b\\[[0-9;?<]*[ -/]*[@-~]|\x1bO.|.", re.DOTALL)
_BEGUN = re.compile("\x1b(\\[[0-9;?<]*[ -/]*|O)?\\Z")
SEQUENCE_CHARS_MAX = 32


class KeyParser:
    """Turns what a terminal sends into names of keys: `up`, `enter`, `q`. Others are left out."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""

    @property
    def is_mid_key(self) -> bool:
        """Say whether more may belong to the last key."""
        return bool(self._begun)

    def feed(self, data: bytes) -> list[str]:
        """Return the next keys."""
        text = self._begun + self._decoder.decode(data)
        begun = _BEGUN.search(text)
        self._begun = begun[0] if begun and len(begun[0]) < SEQUENCE_CHARS_MAX else ""
        return self._named(text.removesuffix(self._begun))

    def flush(self) -> list[str]:
        """Return the key that was waited with: nothing followed it."""
        begun, self._begun = self._begun, ""
        return self._named(begun)

    @staticmethod
    def _named(text: str) -> list[str]:
        found = (_NAMED.get(key, key) for key in _KEY.findall(text))
        return [key for key in found if key.isprintable()]


@contextmanager
def reading_keys(on_key: Callable[[str], object], on_end: Callable[[], object]) -> Iterator[None]:
    """Call `on_key` for each key, and `on_end` when no more can come. The terminal is restored
    afterwards. Ctrl-C stays a signal; Ctrl-Z would leave the screen behind, and does nothing.
    """
    if not sys.stdin.isatty():
        yield
        return
    import termios  # noqa: PLC0415 (not on every system)
    import tty  # noqa: PLC0415

    loop, keys = asyncio.get_running_loop(), KeyParser()

    timers: list[asyncio.TimerHandle] = []

    def flush() -> None:
        for key in keys.flush():
            on_key(key)

    def stop_timers() -> None:
        while timers:
            timers.pop().cancel()

    def ready() -> None:
        stop_timers()
        data = os.read(STDIN, READ_BYTES)
        if not data:
            loop.remove_reader(STDIN)
            on_end()
        for key in keys.feed(data):
            on_key(key)
        if keys.is_mid_key:
            timers.append(loop.call_later(ESCAPE_WAIT_S, flush))

    before = termios.tcgetattr(STDIN)
    tty.setcbreak(STDIN)
    mode = termios.tcgetattr(STDIN)
    mode[6][termios.VSUSP] = b"\0"
    termios.tcsetattr(STDIN, termios.TCSANOW, mode)
    loop.add_reader(STDIN, ready)
    try:
        yield
    finally:
        stop_timers()
        loop.remove_reader(STDIN)
        termios.tcsetattr(STDIN, termios.TCSADRAIN, before)


REFRESH_S = 1.0
"""Events come by the thousand; one look at the server per second is enough to read."""


class Top:
    """The program: `client` for a server that has answered once; `user`: who that says this is."""

    def __init__(self, client: Api, user: Document) -> None:
        self._client = client
        self._user = user
        self._screen = Screen([root("1")], rights=frozenset(user["rights"]))
        self._live: Live | None = None
        self._changed, self._left = asyncio.Event(), asyncio.Event()
        self._loader: asyncio.Task[None] | None = None
        self._asked: Action | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None

    def note_outage(self, why: str) -> None:
        """Show that the server does not answer, until it does."""
        self._screen.outage = one_line(why)
        self._draw()

    async def run(self) -> None:
        """Show the screen until somebody leaves. Raise what ends the connection for good."""
        await need_loop()
        loop = asyncio.get_running_loop()
        _ = self._start(self._listen())
        console = Console()
        try:
            with (
                Interrupts(self._leave_later, ""),
                reading_keys(self._press, self._left.set),
                Live(
                    console=console,
                    screen=True,
                    auto_refresh=False,
                    redirect_stdout=False,
                    redirect_stderr=False,
                ) as live,
            ):
                self._live = live
                loop.add_signal_handler(signal.SIGWINCH, self._draw)
                self._open()
                await self._left.wait()
                self._live = None
        finally:
            loop.remove_signal_handler(signal.SIGWINCH)
            for task in (*self._tasks, self._loader):
                if task is not None:
                    task.cancel()
        if self._error is not None:
            raise self._error

    async def _leave_later(self) -> None:
        self._left.set()

    def _start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Run it beside; what ends it ends the program."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._error = self._error or error
            self._left.set()

    async def _listen(self) -> None:
        async with aclosing(self._client.events(opened=self._changed.set)) as events:
            async for _ in events:
                self._changed.set()

    # ---- load and draw

    def _open(self, view: View | None = None) -> None:
        """Load what is on top, from now on; `view`: put on top before."""
        if view is not None:
            self._screen.views.append(view)
        if self._loader is not None:
            self._loader.cancel()
        self._loader = self._start(self._keep_loaded(self._screen.view))
        self._draw()

    async def _keep_loaded(self, view: View) -> None:
        self._changed.set()
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._load(view)
            self._draw()
            if is_live(view):
                self._changed.set()
            await asyncio.sleep(REFRESH_S)

    async def _load(self, view: View) -> None:
        try:
            await load(self._client, view)
        except Unavailable:
            raise  # after all the patience there is
        except WeftError as error:
            self._complain(error)
        if view.kind != "help":  # which asks nobody
            self._screen.outage = ""

    def _complain(self, error: WeftError) -> None:
        parts = (error.message, error.detail, error.hint)
        self._screen.say(plain("\n".join(part for part in parts if part)), is_wrong=True)

    def _draw(self) -> None:
        if self._live is not None:
            console = self._live.console
            width, height = console.size
            shown = draw(self._screen, self._client.url, width=width, height=height)
            self._live.update(shown, refresh=True)

    # ---- keys

    def _press(self, key: str) -> None:
        screen = self._screen
        if screen.prompt == "confirm":
            self._answer(key)
        elif screen.prompt == "filter":
            if screen.type(key):
                screen.view.query = screen.typed.strip()
                self._open()
        elif screen.prompt == "search":
            if screen.type(key):
                screen.view.search = Search(screen.typed)
                self._seek(1)
        else:
            screen.say("")
            self._do(key)
        self._draw()

    def _answer(self, key: str) -> None:
        self._screen.prompt = ""
        action, self._asked = self._asked, None
        if action is not None and key in {"y", "Y"}:
            _ = self._start(self._act(action))
        else:
            self._screen.say("nothing was done")

    def _do(self, key: str) -> None:
        screen = self._screen
        if screen.move(key):
            self._follow_at_end()
            return
        if key in {"q", "Q"}:
            self._left.set()
        elif key in {"escape", "backspace"}:
            if len(screen.views) > 1:
                screen.views.pop()
                self._open()
        elif key in ROOTS:
            screen.views[:] = [root(key)]
            self._open()
        elif key == "?":
            if screen.view.kind != "help":
                texts = help_lines(screen.rights)
                self._open(View(kind="help", title="keys", texts=texts, is_loaded=True))
        elif screen.view.is_list:
            self._do_in_list(key)
        elif screen.view.kind == "log":
            self._do_in_log(key)
        else:
            self._say_nothing_done(key)

    def _do_in_list(self, key: str) -> None:
        screen, view = self._screen, self._screen.view
        if key == "/":
            screen.begin_typing()
        elif key == "s" and view.columns.sorts:
            view.sort_next()
            self._open()
        elif key == "S":
            view.is_reversed = not view.is_reversed
            self._open()
        elif key == "f" and view.kind == "jobs":
            names = list(JOB_STATES)
            view.only = names[(names.index(view.only) + 1) % len(names)]
            self._open()
        elif (row := view.selected) is None:
            return
        elif key == "enter":
            self._open(opened(view, row))
        else:
            self._do_to(key, row.document)

    def _do_in_log(self, key: str) -> None:
        view = self._screen.view
        if key == "/":
            self._screen.begin_typing()
        elif key in {"n", "N"}:
            self._seek(1 if key == "n" else -1)
        elif key == "f":
            view.is_at_end = not view.is_at_end
            self._follow_at_end()
        else:
            self._do_to(key, view.target)

    def _seek(self, steps: int) -> None:
        """Show the next match of what is sought, or the one before."""
        view = self._screen.view
        if not view.search.text:
            self._screen.say("/ searches a text in this output")
            return
        said = view.seek(steps, height=self._screen.height)
        if view.search.at is None and is_cut(view):
            name = format_job_ref(view.target["batch_id"], view.target["job_id"])
            said += f" here, at its end; `weft logs {name} --grep` searches all of it"
        self._screen.say(said, is_wrong=view.search.at is None)

    def _follow_at_end(self) -> None:
        """Read on at the end of an output; elsewhere it stays as it is."""
        if self._screen.view.kind == "log" and self._screen.view.is_at_end:
            self._changed.set()

    def _do_to(self, key: str, one: Document) -> None:
        view = self._screen.view
        if key == "w" and ("job_id" in one or view.kind == "batches"):
            self._open(View(kind="why", title="why", target=one))
            return
        action = action_of(key, view, one)
        if action is None:
            self._say_nothing_done(key)
        elif (refused := self._refused(right_of(key, view.kind))) is not None:
            self._complain(refused)
        elif action.question:
            self._asked = action
            self._screen.ask(action.question)
        else:
            _ = self._start(self._act(action))

    def _refused(self, right: Right | None) -> WeftError | None:
        """Return why the user may not do that, as the server would say it."""
        role = self._user["role"]
        if right in self._screen.rights or right is None or role not in RIGHTS_OF:
            return None
        try:
            require(right, self._user["user"], UserRole(role), self._user["rights"])
        except WeftError as error:
            return error
        return None

    def _say_nothing_done(self, key: str) -> None:
        self._screen.say(f"{key} does nothing here; ? lists the keys")

    async def _act(self, action: Action) -> None:
        self._screen.say("…")
        try:
            self._screen.say(one_line(await action.act(self._client), width=300))
        except WeftError as error:
            self._complain(error)
        self._changed.set()
        self._draw()
