"""What is suggested to somebody who wrote a word that there is not."""

from cases import cases
from weft.core.text.texts import nearest

WORDS = ("name", "jobs", "env", "timeout_s", "command", "--jobs", "--env", "-q", "priority")


@cases(
    ("written", "meant"),
    [
        ("comand", "command"),
        ("timeout", "timeout_s"),
        ("jbos", "jobs"),
        ("--job", "--jobs"),
        ("priorty", "priority"),
    ],
)
def test_a_typing_error_is_corrected(written: str, meant: str) -> None:
    assert nearest(written, WORDS) == meant


@cases("written", ["", "q", "--q", "en", "--jo", "nothing", "enough", "comment"])
def test_a_short_word_and_another_word_get_no_suggestion(written: str) -> None:
    assert nearest(written, WORDS) is None
