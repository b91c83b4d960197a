"""What a person reads of an error that a program did not catch."""

from cases import cases
from weft.core.errors import CallDied, FieldError, InvalidDocument
from weft.core.errors.kinds import FIELDS_SHOWN


def test_an_error_as_text_says_what_why_and_what_to_do() -> None:
    error = CallDied("job j3 ended without a result: bad_spec", detail="No such directory.")

    assert str(error).splitlines() == [
        "job j3 ended without a result: bad_spec",
        "  No such directory.",
        "  `weft logs` shows its output.",
    ]


def test_an_error_as_text_names_all_offending_fields() -> None:
    wrong = [FieldError("/jobs/0/resources/cpu", "at least 0.001"), FieldError("", "no jobs")]
    error = InvalidDocument("the document is wrong", detail="2 fields.", errors=wrong, hint="Fix.")

    assert str(error).splitlines() == [
        "the document is wrong", "  /jobs/0/resources/cpu: at least 0.001", "  /: no jobs",
        "  Fix.",
    ]  # fmt: skip


def test_an_error_as_text_has_an_end() -> None:
    wrong = [FieldError(f"/jobs/{number}", "too long") for number in range(1000)]
    lines = str(InvalidDocument("wrong", errors=wrong)).splitlines()

    assert f"  … and {1000 - FIELDS_SHOWN} more" in lines
    assert len(lines) < FIELDS_SHOWN + 5


@cases(
    ("detail", "shown"),
    [
        ("/jobs/0/comand: no such field; did you mean command?.", "did you mean command?"),
        ("It is over..", "It is over."),
        ("It is cut….", "It is cut…"),
        ("It goes on...", "It goes on..."),
        ("It is plain.", "It is plain."),
    ],
)
def test_a_reason_ends_with_one_mark(detail: str, shown: str) -> None:
    error = InvalidDocument("wrong", detail=detail)

    assert error.detail.endswith(shown)
    assert error.detail.rstrip(".?…") == detail.rstrip(".?…")
