"""A large document becomes bunches with numbers instead of names."""

from typing import Any

import pytest

from weft.client.submission.document import SubmissionPlan, is_small, plan_submission
from weft.core.errors import ParentCycle, ParentNotFound, WrongType


def plan(*jobs: dict[str, Any], **fields: object) -> SubmissionPlan:
    return plan_submission({"name": "x", **fields, "jobs": list(jobs)})


def test_named_parents_become_numbers_below_their_children() -> None:
    found = plan({"name": "sum", "parents": ["b", "a"]}, {"name": "a"}, {"name": "b"})

    assert [job["name"] for job in found.jobs] == ["a", "b", "sum"]
    assert found.jobs[2]["parents"] == [2, 1]
    assert list(found.positions) == [1, 2, 0]


def test_numbered_parents_follow_when_jobs_change_places() -> None:
    found = plan({"name": "late", "parents": ["c"]}, {"name": "b"}, {"name": "c", "parents": [2]})

    assert [job["name"] for job in found.jobs] == ["b", "c", "late"]
    assert found.jobs[1]["parents"] == [1]


def test_groups_are_made_with_their_ancestors() -> None:
    found = plan(
        {"group": "/s1/a"},
        {"group": "/s1"},
        {},
        groups=[{"path": "/s1", "attributes": {"k": "v"}}],
    )

    assert found.groups == [
        {"name": "s1", "parent": 0, "attributes": {"k": "v"}},
        {"name": "a", "parent": 1},
    ]
    assert [job.get("group") for job in found.jobs] == [2, 1, None]
    assert found.batch == {"name": "x"}


def test_sets_get_numbers_after_those_of_the_tree() -> None:
    found = plan(
        {"group": "/s1", "groups": ["pca", "vep"]},
        {"groups": ["vep"]},
        groups=[{"name": "pca", "kind": "set", "callback": "http://x"}, {"path": "/s1"}],
    )

    assert found.groups == [
        {"name": "s1", "parent": 0},
        {"name": "pca", "kind": "set", "callback": "http://x"},
        {"name": "vep", "kind": "set"},
    ]
    assert [(job.get("group"), job["groups"]) for job in found.jobs] == [(1, [2, 3]), (None, [3])]


def test_a_group_without_a_path_or_a_name_is_refused() -> None:
    with pytest.raises(WrongType) as caught:
        plan({}, groups=[{"path": "/a"}, {"kind": "set"}])

    assert caught.value.errors[0].pointer == "/groups/1"


def test_a_cycle_is_refused_with_its_path() -> None:
    with pytest.raises(ParentCycle) as caught:
        plan({"name": "a", "parents": ["b"]}, {"name": "b", "parents": ["a"]})

    assert "a waits for b waits for a" in caught.value.errors[0].message


def test_a_missing_parent_is_refused() -> None:
    with pytest.raises(ParentNotFound) as caught:
        plan({"name": "a", "parents": ["nobody"]})

    assert caught.value.errors[0].pointer == "/jobs/0/parents/0"


def test_what_is_no_list_of_jobs_is_left_to_the_server() -> None:
    assert is_small({"jobs": "many"})
    assert is_small({"jobs": [1, 2]})
    assert is_small({})
    assert not is_small({"jobs": [{}] * 10_000})


def test_arrays_take_a_position_for_each_job() -> None:
    found = plan(
        {"name": "gather", "parents": ["each", "first"]},
        {"name": "each", "count": 1000, "parents": ["first"]},
        {"name": "first"},
        {"count": 2, "parents": [3, {"of": [1, 2], "need": "end"}, {"of": 3, "need": "start"}]},
    )
    last = [[2, 3], 1002, {"of": 2, "need": "end"}, {"of": 1002, "need": "end"}]
    last.append({"of": 3, "need": "start"})

    assert [job.get("name") for job in found.jobs] == ["first", "each", "gather", None]
    assert [job.get("parents") for job in found.jobs] == [None, [1], [[1, 1001]], last]
    assert (found.n_jobs, list(found.positions)) == (1004, [2, 1, 0, 3])


def test_large_arrays_go_in_bunches() -> None:
    assert is_small({"jobs": [{"count": 1000}]})
    assert not is_small({"jobs": [{"count": 1_000_000}]})
    assert is_small({"jobs": [{"count": "many"}]})  # the server says what is wrong with it
