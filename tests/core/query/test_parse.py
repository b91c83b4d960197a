"""What each term is read as, what a wrong one is told, and what holds for any text."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import cases
from core.query.trees import trees
from weft.core.errors import BadQuery
from weft.core.query import EVERYTHING, Node, Subject, parse_query, print_query
from weft.core.query.parse import CHARS_MAX, DEPTH_MAX, TERMS_MAX
from weft.core.query.tree import (
    AmountTerm,
    And,
    AnyTerm,
    AttributeTerm,
    Field,
    IntegerTerm,
    MissingTerm,
    Not,
    Operator,
    Or,
    StateTerm,
    TextTerm,
    TimeTerm,
)

O = Operator  # noqa: E741 (short, in a table)
A, B, C = (AnyTerm(O.CONTAINS, word) for word in "abc")
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
TERMS: list[tuple[str, Node]] = [
    ("state = running", StateTerm(O.EQ, "running")),
    ("state==live", StateTerm(O.EQ, "live")),
    ("state != bad", StateTerm(O.NE, "bad")),
    ('state = "done"', StateTerm(O.EQ, "done")),
    ("cost > 5", AmountTerm(Field.COST, O.GT, 5)),
    ("cost>=$0.5", AmountTerm(Field.COST, O.GE, 0.5)),
    ("cost < 1e-3", AmountTerm(Field.COST, O.LT, 0.001)),
    ("cost = 0.0003525316427220975", AmountTerm(Field.COST, O.EQ, 0.0003525316427220975)),
    ("duration >= 10", AmountTerm(Field.DURATION, O.GE, 10)),
    ("exit_code = 3", IntegerTerm(Field.EXIT_CODE, O.EQ, 3)),
    ("exit_code = NULL", MissingTerm(Field.EXIT_CODE, O.EQ)),
    ("exit_code != NULL", MissingTerm(Field.EXIT_CODE, O.NE)),
    ("job_id <= 10", IntegerTerm(Field.JOB_ID, O.LE, 10)),
    ("job_id = j7", IntegerTerm(Field.JOB_ID, O.EQ, 7)),
    ("batch_id = b12", IntegerTerm(Field.BATCH_ID, O.EQ, 12)),
    ("name = x", TextTerm(Field.NAME, O.EQ, "x")),
    ("name =~ stage", TextTerm(Field.NAME, O.CONTAINS, "stage")),
    ("name !~ stage", TextTerm(Field.NAME, O.LACKS, "stage")),
    ("instance != w-1", TextTerm(Field.INSTANCE, O.NE, "w-1")),
    ("instance_collection = highmem", TextTerm(Field.INSTANCE_COLLECTION, O.EQ, "highmem")),
    ("start_time > 2026-01-31T12:00:00Z", TimeTerm(Field.START_TIME, O.GT, NOON)),
    ("end_time < 2026-01-31T13:00:00+01:00", TimeTerm(Field.END_TIME, O.LT, NOON)),
    ("end_time < 2026-01-31t12:00z", TimeTerm(Field.END_TIME, O.LT, NOON)),
    ('end_time < "2026-01-31 12:00:00.0Z"', TimeTerm(Field.END_TIME, O.LT, NOON)),
    ("end_time = 2026-01-31", TimeTerm(Field.END_TIME, O.EQ, NOON.replace(hour=0))),
    ('cohort = "scz1"', AttributeTerm("cohort", O.EQ, "scz1")),
    ("cohort=scz1", AttributeTerm("cohort", O.EQ, "scz1")),
    ("cmd = a=b", AttributeTerm("cmd", O.EQ, "a=b")),
    ("path =~ /x/y-1.*", AttributeTerm("path", O.CONTAINS, "/x/y-1.*")),
    ('"my key" !~ "a b"', AttributeTerm("my key", O.LACKS, "a b")),
    ('"state" = new', AttributeTerm("state", O.EQ, "new")),
    ("user = ada", AttributeTerm("user", O.EQ, "ada")),
    ('"not" = x', AttributeTerm("not", O.EQ, "x")),
    ("x = and", AttributeTerm("x", O.EQ, "and")),
    (r'x = "a\"b\\c\d"', AttributeTerm("x", O.EQ, r'a"b\c\d')),
    ('x = "line\nbreak"', AttributeTerm("x", O.EQ, "line\nbreak")),
    ('"pca"', AnyTerm(O.EQ, "pca")),
    ("pca", AnyTerm(O.CONTAINS, "pca")),
    ("order", AnyTerm(O.CONTAINS, "order")),
    ("notable", AnyTerm(O.CONTAINS, "notable")),
    ("Ω%_'", AnyTerm(O.CONTAINS, "Ω%_'")),
]
JOINED: list[tuple[str, Node]] = [
    ("", EVERYTHING),
    (" \n\t ", EVERYTHING),
    ("a\nb", And((A, B))),
    ("\n\n a \r\n\n b \n", And((A, B))),
    ("a and b", And((A, B))),
    ("a AND b And c", And((A, B, C))),
    ("a or b", Or((A, B))),
    ("a or b and c", Or((A, And((B, C))))),
    ("a and b or c", Or((And((A, B)), C))),
    ("a or b\nc", And((Or((A, B)), C))),
    ("(a or b) and c", And((Or((A, B)), C))),
    ("a or\nb", Or((A, B))),
    ("a\nor b", Or((A, B))),
    ("not a", Not(A)),
    ("not not a", A),
    ("not a and b", And((Not(A), B))),
    ("not (a and b)", Not(And((A, B)))),
    ("not(a)", Not(A)),
    ("(\n a\n b\n)", And((A, B))),
    ("((a))", A),
    ("(a and (b and c))", And((A, B, C))),
    ("a and (b)and(c)", And((A, B, C))),
]


@cases(("text", "tree"), TERMS + JOINED)
def test_text_is_read_as_tree_and_back(text: str, tree: Node) -> None:
    assert parse_query(text, Subject.JOBS) == tree
    assert parse_query(print_query(tree), Subject.JOBS) == tree


@cases(
    ("text", "tree"),
    [
        ("user = ada", TextTerm(Field.USER, O.EQ, "ada")),
        ("billing_project != p", TextTerm(Field.BILLING_PROJECT, O.NE, "p")),
        ("foreign_id = a-1", TextTerm(Field.FOREIGN_ID, O.EQ, "a-1")),
        ("state = complete", StateTerm(O.EQ, "complete")),
        ("state != open", StateTerm(O.NE, "open")),
        ("instance = x", AttributeTerm("instance", O.EQ, "x")),
        ("job_id = 3", AttributeTerm("job_id", O.EQ, "3")),
    ],
)
def test_batches_have_words_of_their_own(text: str, tree: Node) -> None:
    assert parse_query(text, Subject.BATCHES) == tree


WRONG = [
    ("state = runing", 1, 9, "there is no state 'runing'; did you mean running?"),
    ("state = zzz", 1, 9, "there is no state 'zzz', only pending ready"),
    ("state > running", 1, 7, "unexpected operator >, expected one of = !="),
    ("a\n  cost > many", 2, 10, "expected float, but found 'many'"),
    ("cost > nan", 1, 8, "expected float, but found 'nan'"),
    ("cost > 1e999", 1, 8, "expected float"),
    ("cost =~ 5", 1, 6, "unexpected operator =~"),
    ("duration > $5", 1, 12, "expected float"),
    ("job_id = x", 1, 10, "expected int, but found 'x'"),
    ("job_id = 1.5", 1, 10, "expected int"),
    ("job_id = 9999999999999999999", 1, 10, "expected int"),
    ("job_id = b1", 1, 10, "expected int"),
    ("exit_code > NULL", 1, 13, "expected int"),
    ('exit_code = "NULL"', 1, 13, "expected int"),
    ("start_time > yesterday", 1, 14, "expected date, but found 'yesterday'"),
    ("start_time > 2026-01-31T12:00:00", 1, 14, "expected date"),
    ("start_time > 2026-02-31", 1, 14, "expected date"),
    ("start_time > 0001-01-01T00:00+14:00", 1, 14, "expected date"),
    ("instance >= x", 1, 10, "unexpected operator >=, expected one of = != =~ !~"),
    ("cohort > 5", 1, 8, "unexpected operator >"),
    ("a b", 1, 3, "expected an operator, and, or, or a new line, but found 'b'"),
    ("name = f(x)", 1, 9, "in quotes, but found '('"),
    ("name =", 1, 7, "expected a value, but here the query ends"),
    ("name =\nb = 1", 1, 7, "expected a value, but found the end of the line"),
    ("= 5", 1, 1, "expected a term"),
    ("!a", 1, 1, "expected a term"),
    ("a and", 1, 6, "expected a term"),
    ("a or or", 1, 6, "or joins terms, but there is none here to join"),
    ("AND", 1, 1, "AND joins terms"),
    ("()", 1, 2, "expected a term"),
    ("a\n(b or\n c", 2, 1, "this parenthesis is not closed"),
    ("a)", 1, 2, "this parenthesis was not opened"),
    ('a\n x = "b', 2, 6, "this quote is not closed"),
    ("a\0", 1, 2, "no text can contain this character"),
    ("a\ud800", 1, 2, "no text can contain this character"),
    ("(" * (DEPTH_MAX + 1) + "a", 1, DEPTH_MAX + 1, "this is more than 32 levels deep"),
    ("a\n" * (TERMS_MAX + 1), TERMS_MAX + 1, 1, "the query has more than 200 terms"),
    ("a" * (CHARS_MAX + 1), 1, CHARS_MAX + 1, "8193 characters, at most 8192 (query_chars_max)"),
]


@cases(("text", "line", "column", "message"), WRONG)
def test_wrong_query_is_told_with_its_place(
    text: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(BadQuery) as caught:
        parse_query(text, Subject.JOBS)

    (where,) = caught.value.errors
    assert where.message.startswith(f"line {line}, column {column}: ")
    assert message in where.message
    assert (caught.value.code, caught.value.status) == ("API.INVALID_QUERY", 400)


def test_mark_stands_below_the_place() -> None:
    with pytest.raises(BadQuery) as caught:
        parse_query("a\n\tstate = runing and b", Subject.JOBS)

    assert caught.value.hint.splitlines()[1:] == [" state = runing and b", "         ^^^^^^"]


def test_long_line_is_cut_around_the_place() -> None:
    with pytest.raises(BadQuery) as caught:
        parse_query(f"{'x' * 1000} = 1 and state = runing and {'y' * 1000}", Subject.JOBS)

    line, mark = caught.value.hint.splitlines()[1:]
    assert len(line) <= 76
    assert line[mark.index("^") : mark.rindex("^") + 1] == "runing"


SUBJECTS = list(Subject)
PIECES = st.sampled_from(
    [
        "state",
        "name",
        "cost",
        "exit_code",
        "start_time",
        "and",
        "or",
        "not",
        "NULL",
        "(",
        ")",
        '"',
        "=",
        "==",
        "!=",
        "=~",
        "!~",
        "<",
        ">",
        "<=",
        ">=",
        "!",
        "~",
        "$",
        "\\",
        " ",
        "\n",
        "\r\n",
        "\t",
        "5",
        "-1",
        "1e3",
        "failed",
        "x",
        "\u2028",
        "ß",
        "\0",
        "2026-01-01",
        "T00:00Z",
        "%",
        "'",
    ]
)
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
        "(" * 100_000,
        "not " * 100_000,
        "a\n" * 100_000,
        "a=1 and " * 100_000,
        " " * 1_000_000,
        "\n" * 1_000_000,
        '"' * 100_001,
        '"' + "\\" * 100_001,
        "\\" * 1_000_000,
        "=" * 100_000,
        "a" * 10_000_000,
        "( " * 4000 + "a" + " )" * 4000,
        "and" * 2000,
        "not(" * 2000,
        " \n" * 4000 + "and",
        "a" + " \n" * 4000,
        '"a" ' * 2000,
        "1e" + "9" * 8000,
        "cost > " + "1" * 8000,
        "start_time > " + "1" * 8000,
        "x=" + "(" * 8000,
    ],
)
@pytest.mark.parametrize("cut", [False, True])
def test_hostile_texts_are_told_soon(text: str, cut: bool) -> None:
    found = parsed(text[:CHARS_MAX] if cut else text, Subject.JOBS)

    if isinstance(found, BadQuery):
        assert len(found.detail) < 300
        assert len(found.hint) < 300
