"""Keys of `weft top` and what they change, without a terminal."""

import pytest
from rich.console import Console

from cases import cases
from weft.cli.terminal.screen import GAP, cells_of, fit_columns
from weft.core.access.rights import RIGHTS_OF, UserRole
from weft_top.command import SPARE, _render
from weft_top.screen.actions import KEYS, action_of
from weft_top.screen.drawing import HINTS, draw, help_lines
from weft_top.screen.lists import BATCHES, WORKER, log_lines, root
from weft_top.screen.program import KeyParser
from weft_top.screen.state import Row, Screen, Search, View


@cases(
    ("pieces", "keys"),
    [
        ([b"jq"], ["j", "q"]),
        ([b"\x1b[A\x1bOB\x1b[5~\x1b[6~"], ["up", "down", "page up", "page down"]),
        # A sequence comes in two pieces over a slow line.
        ([b"\x1b", b"[A"], ["up"]),
        ([b"\x1b[", b"Bx"], ["down", "x"]),
        ([b"\x1b[1;5C\x1b[200~c"], ["c"]),
        (["ä".encode()[:1], "ä".encode()[1:]], ["ä"]),
        ([b"\r\x7f\x15\x00\x01"], ["enter", "backspace", "clear"]),
    ],
)
def test_sequences_are_keys(pieces: list[bytes], keys: list[str]) -> None:
    parser = KeyParser()

    assert [key for piece in pieces for key in parser.feed(piece)] == keys
    assert not parser.is_mid_key


def test_a_lone_escape_is_a_key_when_nothing_follows() -> None:
    parser = KeyParser()

    assert parser.feed(b"\x1b") == []
    assert parser.is_mid_key
    assert parser.flush() == ["escape"]


def rows(*names: str) -> list[Row]:
    return [Row(name, (name,) + ("",) * 8, {"name": name, "cost": len(name)}) for name in names]


def test_what_is_selected_stays_selected_when_rows_come_and_go() -> None:
    view = View(kind="batches", title="batches", columns=BATCHES)
    view.show(rows("a", "b", "c"))
    view.move(1, height=10)

    view.show(rows("new", "a", "b", "c"))
    kept = view.selected
    view.show(rows("new"))
    left = view.selected
    view.show([])

    assert kept is not None
    assert kept.name == "b"
    assert left is not None
    assert left.name == "new"
    assert view.selected is None


@cases("size", [(1, 1), (10, 3), (40, 12), (80, 24), (160, 50)])
@pytest.mark.parametrize("kind", ["list", "text"])
def test_a_screen_is_never_larger_than_the_terminal(size: tuple[int, int], kind: str) -> None:
    width, height = size
    name = "[red]\u4e16\u754c" * 30
    view = root("1")
    view.show([Row(f"b{n}", (name,) * 9, {}) for n in range(100)])
    if kind == "text":
        view = View(kind="log", title=name, texts=[name * 10] * 100, is_loaded=True)
    screen = Screen([root("1"), view], outage=name)
    console = Console(width=width, height=height, force_terminal=True, color_system=None)
    screen.view.move(50, height=20)
    screen.say("\n".join([name] * 20), is_wrong=True)

    shown = console.render_lines(draw(screen, "http://x", width=width, height=height), pad=False)

    assert len(shown) <= height
    assert all(sum(part.cell_length for part in line) <= width for line in shown)


def shown_on(screen: Screen, width: int, height: int) -> list[str]:
    """Return the lines of a screen."""
    console = Console(width=width, height=height, color_system=None)
    with console.capture() as drawn:
        console.print(draw(screen, "http://x", width=width, height=height))
    return [line.rstrip() for line in drawn.get().splitlines()]


def test_a_narrow_screen_shows_questions_and_errors_whole() -> None:
    screen = Screen([root("1")])
    screen.view.show(rows(*"abcdefgh"))
    screen.ask(f"cancel b12 {'long ' * 6}? 1,000,000 of its 1,000,000 jobs have not ended")
    asked = shown_on(screen, 80, 24)
    screen.prompt = ""
    screen.say("the query cannot be read\nAt column 9.\nstate = x\n        ^", is_wrong=True)
    wrong = shown_on(screen, 80, 24)
    screen.say("")

    assert asked[-1].endswith("[y/N]")
    assert wrong[-4:] == ["the query cannot be read", "At column 9.", "state = x", "        ^"]
    assert shown_on(screen, 80, 24)[-1].endswith("q quit")
    assert shown_on(screen, 40, 24)[-1] == "enter opens  w why  ? help  q quit"


def test_what_is_wider_than_the_screen_is_broken() -> None:
    """An output at any character, a sentence between words; and again when the size changes."""
    log = View(kind="log", title="log", is_at_end=True)
    log.show_text(["x" * 100, "end"])
    why = View(kind="why", title="why")
    why.show_text(["waits for " + "word " * 20])
    screen = Screen([root("1"), log])

    assert [line for line in shown_on(screen, 80, 24) if "x" in line[:1]] == ["x" * 80, "x" * 20]
    assert [line for line in shown_on(screen, 60, 24) if "x" in line[:1]] == ["x" * 60, "x" * 40]
    screen.views[-1] = why
    assert [line[-4:] for line in shown_on(screen, 80, 24) if "word" in line] == ["word"] * 2


def test_words_are_sorted_from_a_and_numbers_from_the_largest() -> None:
    view = View(kind="batches", title="batches", columns=BATCHES)
    order = []
    for sort in ("name", "cost"):
        for view.is_reversed in (False, True):
            view.sort = sort
            view.show(rows("Bb", "", "a", "ccc"))
            order.append([row.name for row in view.rows])

    assert order == [
        ["a", "Bb", "ccc", ""],
        ["", "ccc", "Bb", "a"],
        ["ccc", "Bb", "a", ""],
        ["", "a", "Bb", "ccc"],
    ]


def test_a_worker_with_jobs_works() -> None:
    """Also while it has room for more, and so waits for some."""
    worker = {
        "worker": "w",
        "pool": "p",
        "host": "h",
        "cpu": 2,
        "memory": 1,
        "waiting": True,
    }

    assert cells_of(WORKER, {**worker, "jobs": [{}]})[-1] == "working"
    assert cells_of(WORKER, {**worker, "jobs": []})[-1] == "idle"
    assert cells_of(WORKER, {**worker, "jobs": [], "linked": True})[2] == "h (link)"


def test_an_output_cannot_steer_the_screen() -> None:
    data = b"\x1b]0;owned\x07\x1b[31mred\x1b[0m\n50%\r100%\r\n\x1b[2J\xe2\x80\xae\tx\xff\x9b"

    assert log_lines(b"5%\r50%\r") == ["50%"]
    assert log_lines(data) == ["red", "100%", "\ufffd       x\ufffd\ufffd"]
    assert log_lines(b"cut here\nwhole\n", is_cut=True) == ["…", "whole"]


def log_of(*texts: str) -> Screen:
    """Return a screen of 20 columns and 10 lines that shows an output from its end."""
    view = View(kind="log", title="log", target={"state": "running"}, is_at_end=True)
    view.show_text(texts)
    screen = Screen([root("1"), view])
    shown_on(screen, 20, 10)
    return screen


def test_what_is_sought_is_shown_wherever_it_is() -> None:
    """In small letters or capitals, in a line that is broken, round at both ends."""
    texts = [*(f"line {n}" for n in range(50)), "x" * 30 + "Error 1", *["more"] * 50, "an error"]
    screen = log_of(*texts)
    view = screen.view
    view.search = Search("error")
    shown = []
    for steps in (-1, -1, -1, 1, 1):
        said = view.seek(steps, height=screen.height)
        lines = shown_on(screen, 20, 10)
        shown.append((said, [line for line in lines if "rror" in line]))
    again = shown_on(screen, 80, 10)

    first, last = ["x" * 10 + "Error 1"], ["an error"]
    assert shown == [*[("1 of 2", first), ("2 of 2", last)] * 2, ("1 of 2", first)]
    assert not view.is_at_end
    assert texts[50] in again  # the screen has another width now


@pytest.mark.parametrize("sought", [".*", "[", "nothing"])
def test_a_text_is_sought_as_it_is(sought: str) -> None:
    screen = log_of(*["line"] * 50)
    view = screen.view
    view.search = Search(sought)
    before = view.scroll(screen.height)

    assert view.seek(1, height=screen.height) == f"no line has {sought!r}"
    assert view.scroll(screen.height) == before
    assert view.is_at_end


def test_marks_say_whether_an_output_is_followed() -> None:
    screen = log_of(*["line"] * 50)
    follows = shown_on(screen, 80, 10)[1]
    screen.move("k")
    stopped = shown_on(screen, 80, 10)[1]
    screen.move("G")

    assert "[follows]" in follows
    assert "[stopped]" in stopped
    assert "[follows]" in shown_on(screen, 20, 10)[1]  # the way there is cut


@cases("role", [role for role in UserRole if role != UserRole.WORKER])
def test_keys_that_somebody_may_not_use_are_not_offered(role: UserRole) -> None:
    rights = RIGHTS_OF[role]
    offered = {}
    for kind in HINTS:
        view = root("2") if kind == "workers" else View(kind=kind, title=kind)
        view.kind = kind
        offered[kind] = shown_on(Screen([view], rights=rights), 200, 24)[-1]
    page = "\n".join(help_lines(rights))

    for key in KEYS:
        for kind in key.kinds:
            assert (f"{key.key} {key.hint}" in offered[kind]) == (key.right in rights)
        assert (key.help in page) == (key.right in rights)
    assert ("cordon" in page) == (role == UserRole.ADMIN)
    assert ("cancel" in page) == (role != UserRole.VIEWER)


@cases(
    ("key", "state", "question"),
    [
        ("c", "active", "cordon w of pool p? It takes no new jobs; those it has (1 job) go on."),
        ("c", "cordoned", "uncordon w of pool p? It takes jobs again."),
        ("c", "draining", "uncordon w of pool p? It takes jobs again."),
        (
            "d",
            "active",
            "drain w of pool p? It takes no new jobs, and ends after those it has (1 job).",
        ),
    ],
)
def test_a_worker_is_stopped_only_after_a_question(key: str, state: str, question: str) -> None:
    worker = {"worker": "w", "pool": "p", "state": state, "n_running": 1}
    action = action_of(key, root("2"), worker)

    assert action is not None
    assert action.question == question
    assert action_of("r", root("2"), worker) is None


NEEDS = {
    "Batch": 3,
    "Name": 30,
    "User": 8,
    "State": 9,
    "Progress": 20,
    "Running": 7,
    "Failed": 6,
    "Cost": 8,
    "Took": 6,
}


@cases("width", [76, 80, 100, 120, 160])
def test_a_table_is_no_wider_than_the_screen(width: int) -> None:
    fitted = fit_columns(NEEDS, width, SPARE)

    assert sum(fitted.values()) + GAP * (len(fitted) - 1) <= width
    assert {name: fitted[name] for name in fitted if name != "Name"}.items() <= NEEDS.items()


def test_a_usual_screen_keeps_what_matters() -> None:
    assert list(fit_columns(NEEDS, 80, SPARE)) == [
        "Batch",
        "Name",
        "State",
        "Progress",
        "Running",
        "Failed",
        "Took",
    ]


def test_a_wide_screen_shows_everything() -> None:
    assert fit_columns(NEEDS, 160, SPARE) == NEEDS


def test_an_incident_is_one_line() -> None:
    incident = {
        "condition_id": 3,
        "condition": "quota",
        "tester": "tcp",
        "parameters": {"host": "db"},
        "since": "2026-11-22T00:00:00Z",
        "n_jobs": 9412,
        "next_test_at": "2026-11-22T00:10:00Z",
        "tested_at": "2026-11-22T00:09:00Z",
        "passed": False,
        "message": "no answer",
    }
    console = Console(width=160)
    with console.capture() as printed:
        console.print(_render("x", {"workers": [], "blocked": 9412}, [], [incident], width=160))
    (line,) = [one for one in printed.get().splitlines() if "tcp host=db" in one]

    assert line.split()[:2] == ["c3", "quota"]
    assert "9,412" in line
    assert "no answer" in line


def test_texts_are_cut_before_a_column_is_left_out() -> None:
    needs = {"Job": 6, "Name": 40, "Why": 60, "Ended": 19}

    assert fit_columns(needs, 80, ["Ended"]) == {"Job": 6, "Name": 37, "Why": 12, "Ended": 19}
    assert fit_columns(needs, 40, ["Ended"]) == {"Job": 6, "Name": 18, "Why": 12}
