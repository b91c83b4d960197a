import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from client.http_server import answer, serving
from weft.client.api import Api
from weft.core.errors import FieldError, InvalidDocument, QuotaExceeded
from weft.core.text.texts import wrong_name
from weft_each.parts import feed
from weft_each.parts.feed import NAME_CHARS, JobFeed, _refused_jobs, name_of
from weft_each.parts.ledger import FAILURES_SHOWN, WINDOW_JOBS, Ledger, Slots
from weft_each.parts.lines import GivenItems
from weft_each.parts.packing import Packer
from weft_each.parts.records import Records, Submitted
from weft_each.parts.summary import EndedRun, _counts
from weft_each.rules.input_lines import CommandTemplate


def ended(job_id: int, state: str = "success") -> dict[str, Any]:
    return {"job_id": job_id, "state": state, "reason": "exit", "exit_code": 1}


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=400))
def test_every_line_gives_a_name_that_the_server_takes(line: str) -> None:
    assert wrong_name(name_of(line), chars_max=256) is None


def test_lines_that_look_alike_have_different_names() -> None:
    long = "x" * NAME_CHARS

    assert name_of("a b") == "a b"
    names = {name_of(line) for line in (long, long + "1", long + "2", "\t", "\n", "", " ")}
    assert len(names) == 7


@given(st.permutations(range(1, 12)), st.integers(1, 4))
def test_ordered_results_come_once_each_in_order(ends: list[int], count_max: int) -> None:
    ledger = Ledger()
    ledger.note_submitted([f"line {n}" for n in range(1, 12)])
    printed: list[int] = []
    for job_id in ends:
        ledger.note_ended([job_id])
        while run := ledger.next_run(ordered=True, count_max=count_max):
            assert run[1] - run[0] < count_max
            printed += range(run[0], run[1] + 1)
            for one in range(run[0], run[1] + 1):
                assert ledger.note_printed(ended(one)) == f"line {one}"

    assert printed == list(range(1, 12))
    assert ledger.n_free == WINDOW_JOBS


@given(st.permutations(range(1, 12)))
def test_unordered_results_come_as_they_end(ends: list[int]) -> None:
    ledger = Ledger()
    ledger.note_submitted([""] * 11)
    for n_printed, job_id in enumerate(ends):
        ledger.note_ended([job_id])
        assert ledger.next_run(ordered=False, count_max=10) == (job_id, job_id)
        ledger.note_printed(ended(job_id))
        assert ledger.n_printed == n_printed + 1
    assert ledger.next_run(ordered=False, count_max=10) is None


def test_news_may_be_faster_than_the_answer_to_the_submission() -> None:
    ledger = Ledger()
    ledger.note_ended([1, 2])
    assert ledger.next_run(ordered=True, count_max=9) is None

    ledger.note_submitted(["a"])
    assert ledger.next_run(ordered=True, count_max=9) == (1, 1)


def test_a_result_that_comes_again_is_not_printed_again() -> None:
    ledger = Ledger()
    ledger.note_submitted(["a"])
    ledger.note_ended([1])
    ledger.note_printed(ended(1))
    ledger.note_ended([1])

    assert ledger.note_printed(ended(1)) is None
    assert ledger.next_run(ordered=False, count_max=9) is None


def test_only_the_first_failures_are_kept() -> None:
    ledger = Ledger()
    ledger.note_submitted([""] * 100)
    for job_id in range(1, 101):
        ledger.note_printed(ended(job_id, "failed"))

    assert ledger.n_failed == 100
    assert [f.job_id for f in ledger.failures] == list(range(1, FAILURES_SHOWN + 1))


@cases(
    ("pointers", "expected"),
    [
        (["/jobs/3/command", "/jobs/7"], {3: "why 0", 7: "why 1"}),
        (["/jobs/0/timeout_s", "/jobs/1/command/2"], {0: "--timeout: why 0", 1: "why 1"}),
        (["/jobs/3", "/inherit_env"], {}),
        ([""], {}),
    ],
)
def test_refused_jobs_are_found_by_their_pointers(
    pointers: list[str], expected: dict[int, str]
) -> None:
    errors = [FieldError(pointer, f"why {n}") for n, pointer in enumerate(pointers)]

    assert _refused_jobs(InvalidDocument("no", errors=errors)) == expected


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=40))
def test_a_slot_belongs_to_one_unfinished_job_and_is_the_lowest_free_one(
    steps: list[tuple[bool, int]],
) -> None:
    ledger = Ledger(slots=Slots(4))
    held: dict[int, int] = {}
    for starts, which in steps:
        if starts and ledger.n_free and ledger.slots is not None:
            slot = ledger.slots.take()
            assert slot == min({1, 2, 3, 4} - set(held.values()))
            ledger.note_submitted(["line"], slots=[slot])
            held[ledger.n_submitted] = slot
        elif held and not starts:
            job = sorted(held)[which % len(held)]
            del held[job]
            ledger.note_ended([job])

    assert ledger.n_free == 4 - len(held)


def test_slot_is_free_again_if_the_end_is_known_before_the_answer() -> None:
    ledger = Ledger(slots=Slots(1))
    assert ledger.slots is not None
    slot = ledger.slots.take()
    ledger.note_ended([1])
    ledger.note_submitted(["line"], slots=[slot])

    assert ledger.n_free == 1


async def test_a_full_quota_is_waited_for_and_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What does not fit at once goes in halves; the last job alone waits for room."""
    monkeypatch.setattr(feed, "ROOM_S", 0)
    problem = {
        "code": QuotaExceeded.code,
        "title": "ada would have more jobs than the quota allows",
    }
    full = answer(429, json.dumps(problem).encode(), retry_after=60)
    made = answer(201, b'{"id": 7, "update_id": 1}')
    async with (
        serving(full, full, made, full, full, made, made) as server,
        Api(server.url, "t", patience_s=600) as client,
    ):
        ledger = Ledger()
        await JobFeed(
            client=client,
            reader=GivenItems([(n, b"x") for n in (1, 2, 3)]),
            packer=Packer(),
            ledger=ledger,
            template=CommandTemplate(("echo",)),
            batch={},
            job_fields={},
            request_fields={},
            before_batch=lambda: None,
        ).run()

    assert (ledger.n_submitted, len(server.requests)) == (3, 7)
    assert capsys.readouterr().err.count("than the quota allows; the other lines wait") == 1


def test_long_values_that_begin_alike_have_their_own_results(tmp_path: Path) -> None:
    records = Records(None, str(tmp_path))
    for n in range(3):
        job = Submitted(["true"], [f"{'x' * 250}{n}"], n)
        records.add(job, {"stdout": b"", "stderr": b""}, None)
    assert len(list(tmp_path.glob("1/*/seq"))) == 3


def test_fewer_items_a_job_where_more_do_not_fit() -> None:
    items = list(enumerate([b"x" * 99] * 1000, 1))
    packer = Packer(per_job=500, chars_max=10_000, copies=2)
    packs = [*packer.feed(items), *packer.finish()]
    assert {len(pack.values) for pack in packs} == {50}
    assert sum(len(pack.values) for pack in packs) == 1000


@cases(("interrupted", "told"), [(False, "no input, nothing"), (True, "interrupted before")])
def test_run_without_a_job_says_why(interrupted: bool, told: str) -> None:
    run = EndedRun(name="a", batch_id=None, seconds=1.0, interrupted=interrupted)
    assert _counts(Ledger(), run).startswith(told)
