"""Somebody gave a line for a shell where a program and its arguments belong."""

from cases import cases
from weft.cli.terminal.shell_words import shell_hint


@cases(
    ("command", "hint"),
    [
        ("echo {} | wc", "a pipe or `>` needs a shell: `weft each -- sh -c 'echo {} | wc'`"),
        ("ls>x", "a pipe or `>` needs a shell: `weft each -- sh -c 'ls>x'`"),
        ("a && b", "a pipe or `>` needs a shell: `weft each -- sh -c 'a && b'`"),
        ("wc -l {}", "the quotes make it one word; leave them out: `weft each -- wc -l {}`"),
        ("nothing", None),
        ("", None),
    ],
)
def test_a_line_in_one_word_gets_a_hint(command: str, hint: str | None) -> None:
    assert shell_hint([command], "weft each --") == hint


def test_a_program_with_arguments_gets_none() -> None:
    assert shell_hint(["a b", "c"], "weft run --") is None
