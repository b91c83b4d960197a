"""What of a batch a query must read, and what is refused for that."""

import pytest

from cases import cases
from weft.core.errors import QueryTooWide
from weft.core.query import Subject, parse_query
from weft.core.query.reach import (
    JOB_ID_MAX,
    Access,
    Failures,
    Named,
    OfGroup,
    OfWorkers,
    Reach,
    Ready,
    Union,
    check_width,
    reach_of,
)


def reach(text: str) -> Reach:
    return reach_of(parse_query(text, Subject.JOBS))


@cases(
    ("text", "bounds"),
    [
        ("", (1, JOB_ID_MAX)),
        ("job_id = 7", (7, 7)),
        ("job_id > 7 and job_id <= 9", (8, 9)),
        ("job_id >= 7 and job_id < 9 and cost > 5", (7, 8)),
        ("job_id < 3 or job_id > 5", (1, JOB_ID_MAX)),
        ("not job_id < 3", (1, JOB_ID_MAX)),
        ("job_id != 3", (1, JOB_ID_MAX)),
        ("job_id > -5 and job_id < 99999999999", (1, JOB_ID_MAX)),
        ("job_id > 5 and job_id < 3", (6, 2)),
    ],
)
def test_numbers_bound_what_is_read(text: str, bounds: tuple[int, int]) -> None:
    found = reach(text)

    assert (found.first, found.last) == bounds


@cases(
    ("text", "access"),
    [
        ("name = x", Named("x")),
        ("name = x and cost > 5", Named("x")),
        ("state = failed and name = x", Named("x")),
        ("state = failed", Failures()),
        ("state = bad", Failures()),
        ("state = running", OfWorkers()),
        ("state = running and state = failed and name = x", Named("x")),
        ("state = ready", Ready()),
        ("state = live", None),
        ("state != running", None),
        ("exit_code = 3", Failures()),
        ("exit_code > 0", Failures()),
        ("exit_code >= 1", Failures()),
        ("name = x or name = y", Union((Named("x"), Named("y")))),
        ("(name = x or state = error) and cost > 5", Union((Named("x"), Failures()))),
        ("name = x or cost > 5", None),
        ("not name = x", None),
        ("name != x", None),
        ("name =~ x", None),
        ("state = done", None),
        ("state != failed", None),
        ("exit_code = 0", None),
        ("exit_code >= 0", None),
        ("exit_code != 3", None),
        ("exit_code = NULL", None),
        ("cohort = x", None),
    ],
)
def test_index_is_used_only_where_it_gives_all(text: str, access: Access | None) -> None:
    assert reach(text).access == access


@cases(
    "text",
    ["", "job_id > 5", "name = x", "state = failed and cost > 5", "cost > 5 and job_id < 9"],
)
def test_narrow_query_is_allowed_in_any_batch(text: str) -> None:
    check_width(reach(text), 16_000_000, scan_jobs_max=10)


@cases("text", ["cost > 5", "pca", "state = success", "not name = x"])
def test_wide_query_is_refused_in_a_large_batch_only(text: str) -> None:
    check_width(reach(text), 10, scan_jobs_max=10)
    with pytest.raises(QueryTooWide) as caught:
        check_width(reach(text), 16_000_000, scan_jobs_max=10)

    assert "16,000,000 jobs" in caught.value.detail
    assert "job_id >= 1 and job_id <= 10" in caught.value.hint


@pytest.mark.parametrize(
    ("query", "n_jobs", "access"),
    [
        ("cost > 5", 10_000_000, OfGroup(3, (3,), 10_000_000)),
        ("name = x", 10_000_000, Named("x")),
        ("name = x", 100, OfGroup(3, (3,), 100)),
    ],
)
def test_small_group_is_looked_at_whole(query: str, n_jobs: int, access: Access) -> None:
    group = OfGroup(3, (3,), n_jobs)
    found = reach_of(parse_query(query, Subject.JOBS), group)

    assert (found.access, found.group) == (access, group)
    assert found.width(16_000_000) == n_jobs
