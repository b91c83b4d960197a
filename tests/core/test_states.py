from cases import cases
from weft.core.states import TRANSITIONS, JobState, Phase, Reason, shown_state


def test_every_state_has_its_row() -> None:
    assert set(TRANSITIONS) == set(JobState)


def test_table_is_that_of_the_design() -> None:
    words = {
        state.word: " ".join(sorted(after.word for after in TRANSITIONS[state]))
        for state in JobState
    }

    assert words == {
        "pending": "cancelled error ready",
        "ready": "cancelled creating error queued running success",
        "queued": "blocked cancelled error ready running",
        "creating": "cancelled error ready running",
        "running": "blocked cancelled error failed ready success",
        "blocked": "cancelled error failed ready",
        "success": "",
        "failed": "pending ready",
        "error": "pending ready",
        "cancelled": "pending ready",
    }


def test_only_the_last_four_states_are_ends() -> None:
    assert {state for state in JobState if state.is_terminal} == {
        JobState.SUCCESS,
        JobState.FAILED,
        JobState.ERROR,
        JobState.CANCELLED,
    }


def test_success_is_final() -> None:
    assert TRANSITIONS[JobState.SUCCESS] == frozenset()


def test_stored_numbers_never_change() -> None:
    """They are in databases and on the wire."""
    assert [state.value for state in JobState] == list(range(10))
    assert [reason.value for reason in Reason] == list(range(1, 18))
    assert [phase.value for phase in Phase] == list(range(1, 10))
    assert JobState(6) is JobState.SUCCESS
    assert Reason(11) is Reason.LOST
    assert Phase(6) is Phase.EXECUTING


def test_words_are_those_of_the_documents() -> None:
    assert Reason.NO_PROGRAM.word == "no_program"
    assert Phase.STAGING_INPUTS.word == "staging_inputs"


ENDS = {"n_jobs": 9_999, "n_failed": 1_000, "n_errored": 7, "n_cancelled": 2}


@cases(
    ("document", "expected"),
    [
        ({"state": "running"}, "running"),
        ({"state": "running", "phase": "executing"}, "running"),
        ({"state": "running", "phase": "assigned"}, "claimed"),
        ({"state": "success", "phase": None}, "success"),
        ({"state": "running", "n_jobs": 3, "n_running": 0, "n_completed": 0}, "waiting"),
        ({"state": "running", "n_jobs": 3, "n_running": 1, "n_completed": 0}, "running"),
        ({"state": "running", "n_jobs": 3, "n_running": 0, "n_completed": 1}, "running"),
        ({"state": "running", "n_jobs": 0}, "running"),
        ({"state": "success", "n_jobs": 3, "n_completed": 3}, "success"),
        ({**ENDS, "state": "running", "complete": False}, "running, 1,007 failed, 2 cancelled"),
        ({**ENDS, "state": "failure", "complete": True}, "failure"),
        ({**ENDS, "state": "cancelled", "complete": False, "cancelled": True}, "cancelled"),
    ],
)
def test_what_is_shown_of_what_has_not_started_or_not_ended(
    document: dict[str, object], expected: str
) -> None:
    assert shown_state(document) == expected
