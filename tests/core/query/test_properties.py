"""Any text gives a tree or the one error, soon; a printed tree is read as itself."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import cases
from core.query.trees import trees
from weft.core.errors import BadQuery
from weft.core.query import Node, Subject, parse_query, print_query
from weft.core.query.parse import CHARS_MAX

SUBJECTS = list(Subject)
PIECES = st.sampled_from(
    ["state", "name", "cost", "exit_code", "start_time", "and", "or", "not", "NULL", "(", ")", '"',
     "=", "==", "!=", "=~", "!~", "<", ">", "<=", ">=", "!", "~", "$", "\\", " ", "\n", "\r\n",
     "\t", "5", "-1", "1e3", "failed", "x", "\u2028", "ß", "\0", "2026-01-01", "T00:00Z", "%", "'"]
)  # fmt: skip
LIMIT_S = 2.0
"""Far above what any takes; an exponential one would take hours."""


def parsed(text: str, subject: Subject) -> Node | BadQuery:
    begun = time.thread_time()  # others may have the cores meanwhile
    try:
        return parse_query(text, subject)
    except BadQuery as error:
        return error
    finally:
        assert time.thread_time() - begun < LIMIT_S


@pytest.mark.parametrize("subject", SUBJECTS)
@given(text=st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join)))
@example(text="\ud800")
def test_any_text_gives_a_tree_or_says_where_it_is_wrong(subject: Subject, text: str) -> None:
    found = parsed(text, subject)

    if isinstance(found, BadQuery):
        (where,) = found.errors
        assert where.pointer == "?q"
        assert where.message.startswith("line ")
        assert found.hint.splitlines()[-1].strip(" ^") == ""
    else:
        assert parse_query(print_query(found), subject) == found


@pytest.mark.parametrize("subject", SUBJECTS)
@given(data=st.data())
def test_printed_tree_is_read_as_itself(subject: Subject, data: st.DataObject) -> None:
    tree = data.draw(trees(subject))

    assert parse_query(print_query(tree), subject) == tree


@cases(
    "text",
    [
        "(" * 100_000, "not " * 100_000, "a\n" * 100_000, "a=1 and " * 100_000, " " * 1_000_000,
        "\n" * 1_000_000, '"' * 100_001, '"' + "\\" * 100_001, "\\" * 1_000_000, "=" * 100_000,
        "a" * 10_000_000, "( " * 4000 + "a" + " )" * 4000, "and" * 2000, "not(" * 2000,
        " \n" * 4000 + "and", "a" + " \n" * 4000, '"a" ' * 2000, "1e" + "9" * 8000,
        "cost > " + "1" * 8000, "start_time > " + "1" * 8000, "x=" + "(" * 8000,
    ],
)  # fmt: skip
@pytest.mark.parametrize("cut", [False, True])
def test_hostile_texts_are_told_soon(text: str, cut: bool) -> None:  # noqa: FBT001 (a parameter)
    found = parsed(text[:CHARS_MAX] if cut else text, Subject.JOBS)

    if isinstance(found, BadQuery):
        assert len(found.detail) < 300
        assert len(found.hint) < 300
