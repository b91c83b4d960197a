"""Names of things as people write them: `b12`, `b12.j7`."""

import re
from typing import NewType

from weft.core.errors import BadId

BatchId = NewType("BatchId", int)
UpdateId = NewType("UpdateId", int)
JobId = NewType("JobId", int)

BATCH = re.compile(r"b?([1-9][0-9]{0,17})")
SCHEDULE = re.compile(r"s?([1-9][0-9]{0,17})")
CONDITION = re.compile(r"c?([1-9][0-9]{0,17})")
JOB = re.compile(r"(?:b?([1-9][0-9]{0,17})\.)?j?([1-9][0-9]{0,8})")


def _number(form: re.Pattern[str], text: str, expected: str, hint: str = "") -> int:
    match = form.fullmatch(text)
    if match is None:
        raise BadId(text, expected=expected, hint=hint)
    return int(match[1])


def parse_batch_id(text: str) -> BatchId:
    """Read `b12` or `12`. Raise `BadId` for anything else."""
    return BatchId(_number(BATCH, text, "a batch is written b12 or 12"))


def parse_job_id(text: str) -> JobId:
    """Read the number of a job within its batch: `j7` or `7`. Raise `BadId` for anything else."""
    match = JOB.fullmatch(text)
    if match is None or match[1]:
        raise BadId(text, expected="a job within its batch is written j7 or 7")
    return JobId(int(match[2]))


def parse_job_ref(text: str) -> tuple[BatchId, JobId]:
    """Read `b12.j7` (or `12.7`). Raise `BadId` for anything else."""
    match = JOB.fullmatch(text)
    if match is None or not match[1]:
        if text.startswith("b") and BATCH.fullmatch(text):
            jobs = f"a job of it is written {text}.j7; `weft jobs {text}` lists them"
            raise BadId(text, expected=jobs, why="a batch, and a job is needed")
        raise BadId(text, expected="a job is written b12.j7")
    return BatchId(int(match[1])), JobId(int(match[2]))


def parse_schedule_id(text: str) -> int:
    """Read `s3` or `3`. Raise `BadId` for anything else."""
    hint = "List schedules with `weft schedule ls`."
    return _number(SCHEDULE, text, "a schedule is written s3 or 3", hint)


def format_schedule_id(schedule_id: int) -> str:
    """Write `s3`."""
    return f"s{schedule_id}"


def parse_condition_id(text: str) -> int:
    """Read `c3` or `3`. Raise `BadId` for anything else."""
    hint = "List what jobs wait for with `weft condition ls`."
    return _number(CONDITION, text, "a condition is written c3 or 3", hint)


def format_condition_id(condition_id: int) -> str:
    """Write `c3`."""
    return f"c{condition_id}"


def format_batch_id(batch_id: int) -> str:
    """Write `b12`."""
    return f"b{batch_id}"


def format_job_ref(batch_id: int, job_id: int) -> str:
    """Write `b12.j7`."""
    return f"b{batch_id}.j{job_id}"
