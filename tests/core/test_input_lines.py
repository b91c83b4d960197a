from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.extensions.each.rules.input_lines import LINE_BYTES_MAX, CommandTemplate, LineSplitter


def split(data: bytes, cuts: list[int], separator: bytes | None = None) -> list[tuple[int, bytes]]:
    splitter = LineSplitter(separator)
    found = []
    ends = sorted(cut % (len(data) + 1) for cut in cuts)
    for start, end in zip([0, *ends], [*ends, len(data)], strict=True):
        found += splitter.feed(data[start:end])
    return found + splitter.finish()


@given(st.binary(max_size=200), st.lists(st.integers(0, 1000), max_size=5))
def test_lines_do_not_depend_on_where_the_input_is_cut(data: bytes, cuts: list[int]) -> None:
    expected = [(n, line) for n, line in enumerate(data.split(b"\n"), 1) if line]

    assert split(data, cuts) == expected


def test_items_between_nul_may_hold_newlines_and_be_empty() -> None:
    assert split(b"a\nb\0\0c", [], b"\0") == [(1, b"a\nb"), (2, b""), (3, b"c")]


def test_empty_lines_are_no_items_but_are_counted() -> None:
    assert split(b"\na\n\nb\n", []) == [(2, b"a"), (4, b"b")]


def test_an_endless_line_does_not_fill_the_memory_and_the_next_one_is_whole() -> None:
    splitter = LineSplitter()
    splitter.feed(b"one\n")
    for _ in range(5):
        assert splitter.feed(b"x" * LINE_BYTES_MAX) == []
    (long, after) = splitter.feed(b"\nthree\n")

    assert (long[0], after) == (2, (3, b"three"))
    assert len(long[1]) == LINE_BYTES_MAX + 1


@cases(
    ("placeholder", "line", "expected"),
    [
        ("{}", "a b/c.tar.gz", "a b/c.tar.gz"),
        ("{.}", "a b/c.tar.gz", "a b/c.tar"),
        ("{.}", "dir.d/file", "dir.d/file"),
        ("{.}", "d/.rc", "d/"),
        ("{.}", "d/x.", "d/x."),
        ("{/}", "a/b/c.txt", "c.txt"),
        ("{/.}", "a/b.d/c.txt", "c"),
        ("{//}", "a/b/c.txt", "a/b"),
        ("{//}", "c.txt", "."),
        ("{//}", "/c.txt", "/"),
        ("{#}", "x", "7"),
        ("<{}>{#}", "x", "<x>7"),
        ("{}", "{/}", "{/}"),
        ("{other}", "x", "{other}"),
    ],
)
def test_placeholders(placeholder: str, line: str, expected: str) -> None:
    template = CommandTemplate(("{}", placeholder))

    assert template.render([line], 7) == [line, expected]


def test_a_command_without_placeholder_gets_the_line_as_last_argument() -> None:
    assert CommandTemplate(("wc", "-l")).render(["it's a file"], 1) == ["wc", "-l", "it's a file"]


@cases(
    ("words", "repeats", "expected"),
    [
        (["echo"], True, ["echo", "a/b.c", "d"]),
        (["echo", "{}", "end"], True, ["echo", "a/b.c", "d", "end"]),
        (["echo", "x{/.}y"], True, ["echo", "xby", "xdy"]),
        (["echo", "{}", "x{}y"], False, ["echo", "a/b.c", "d", "xa/b.c dy"]),
        (["{2}", "{1/}", "{-1}", "{3}", "{1}-{2}"], True, ["d", "b.c", "d", "", "a/b.c-d"]),
        (["{#}", "{}{2}"], True, ["7", "a/b.cd", "dd"]),
    ],
)
def test_several_values(words: list[str], *, repeats: bool, expected: list[str]) -> None:
    template = CommandTemplate(words, has_positions=True, repeats=repeats)

    assert template.render(["a/b.c", "d"], 7) == expected


def test_positions_are_text_unless_there_are_several_values() -> None:
    assert CommandTemplate(("grep", "a{2}")).render(["x"], 1) == ["grep", "a{2}", "x"]


def test_another_text_may_stand_for_the_value() -> None:
    template = CommandTemplate(("echo", "{}", "X+", "{/}"), whole="X+")

    assert template.render(["a/b"], 1) == ["echo", "{}", "a/b", "b"]
