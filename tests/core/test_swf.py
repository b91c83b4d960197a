"""Traces in the Standard Workload Format, and what is none."""

import pytest

from cases import cases
from weft.core.swf import TraceJob, UnreadableTrace, read_trace

JOB = "7 100 -1 60 4 -1 2048 8 90 -1 1 3 1 12 0 -1 -1 -1"


def test_a_line_is_a_job() -> None:
    trace = read_trace(["; Version: 2.2", "", f"  {JOB}  "], name="t.swf")

    assert trace.jobs == [
        TraceJob(
            number=7,
            submit_s=100,
            run_s=60,
            cpu_m=4000,
            memory_mib=8,
            user=3,
            limit_s=90,
            application=12,
        )
    ]


def test_what_a_trace_does_not_know_has_a_usual_value() -> None:
    trace = read_trace(["1 0 -1 5 -1 -1 -1 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1"], name="t.swf")

    assert trace.jobs == [
        TraceJob(number=1, submit_s=0, run_s=5, cpu_m=2000, memory_mib=1, user=-1, limit_s=5)
    ]


def test_jobs_are_in_the_order_of_their_submission_and_those_that_never_ran_are_left_out() -> None:
    lines = [
        JOB,
        JOB.replace("7 100", "8 50"),
        JOB.replace("7 100 -1 60", "9 60 -1 -1"),
        JOB.replace(" 4 -1 2048 8 ", " 0 -1 2048 -1 "),
    ]
    trace = read_trace(lines, name="t.swf")

    assert [job.number for job in trace.jobs] == [8, 7]
    assert trace.n_left_out == 2


@cases(
    ("line", "why"),
    [
        ("1 2 3", "It has 3 of 18 words"),
        (f"{JOB} 1", "It has 19 of 18 words"),
        (JOB.replace("60", "sixty"), "Not all are numbers"),
        (JOB.replace("60", "nan"), "Not all are numbers"),
        (JOB.replace("60", "1e300"), "Not all are numbers"),
    ],
)
def test_another_line_is_refused_with_its_place(line: str, why: str) -> None:
    with pytest.raises(UnreadableTrace) as refused:
        read_trace(["; x", JOB, line], name="t.swf")

    assert refused.value.message == "t.swf:3 is not a job in the Standard Workload Format"
    assert refused.value.detail.startswith(why)


@pytest.mark.parametrize("change", [("7 100", "7 -100"), (" 4 ", " 4000000 ")])
def test_impossible_jobs_are_refused_with_their_place(change: tuple[str, str]) -> None:
    with pytest.raises(UnreadableTrace, match=r"^t\.swf:1 has a job"):
        read_trace([JOB.replace(*change)], name="t.swf")


def test_an_empty_trace_is_refused() -> None:
    with pytest.raises(UnreadableTrace, match=r"t\.swf has no jobs"):
        read_trace(["; nothing"], name="t.swf")
    with pytest.raises(UnreadableTrace, match="1 jobs, none of which ran"):
        read_trace([JOB.replace("-1 60", "-1 -1")], name="t.swf")
