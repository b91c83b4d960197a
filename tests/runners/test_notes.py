"""What a gateway passes on of what its engine says."""

from weft.core.states import AttemptKey
from weft.plugins.runners.remote.ends import Notes

ONE, OTHER = AttemptKey(1, 1, 1), AttemptKey(1, 2, 1)


def test_a_changed_reason_is_told_and_not_too_often() -> None:
    """Each attempt by itself; a new phase at once."""
    now = [100.0]
    notes = Notes(lambda: now[0])

    def after(seconds: float, said: str, key: AttemptKey = ONE) -> str:
        now[0] += seconds
        return notes.news(key, said)

    assert after(0, "Resources") == "Resources"
    assert after(60, "Resources") == ""
    assert after(0, "Priority") == "Priority"
    assert after(9, "Resources") == ""
    assert after(0, "Resources", OTHER) == "Resources"
    assert after(1, "Resources") == "Resources"
    assert notes.of_phase(ONE, "on n1") == "on n1"
    assert notes.of_phase(ONE, "x" * 1000) == "x" * 300
