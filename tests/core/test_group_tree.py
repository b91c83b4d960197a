"""Paths of groups, and what must be made for them."""

from cases import cases
from weft.core.errors import InvalidDocument, UnknownField, WrongType
from weft.core.graph.group_tree import PlannedGroup, ancestors, plan_groups, wrong_path
from weft.core.problems import PROBLEMS_MAX, Problems, pointer_of
from weft.core.text.texts import wrong_attributes, wrong_name


def test_ancestors_come_first_and_only_once() -> None:
    planned, number = plan_groups(["/a/b", "/a", "/a/c/d"], {})

    assert planned == [
        PlannedGroup(1, 0, "a", "/a"),
        PlannedGroup(2, 1, "b", "/a/b"),
        PlannedGroup(3, 1, "c", "/a/c"),
        PlannedGroup(4, 3, "d", "/a/c/d"),
    ]
    assert number == {"/": 0, "/a": 1, "/a/b": 2, "/a/c": 3, "/a/c/d": 4}


def test_groups_that_are_there_are_not_made_again() -> None:
    planned, number = plan_groups(["/a/b"], {"/a": 7})

    assert planned == [PlannedGroup(1, -7, "b", "/a/b")]
    assert number["/a"] == -7


def test_root_has_no_ancestors() -> None:
    assert ancestors("/") == []
    assert ancestors("/a/b") == ["/a", "/a/b"]


@cases("path", ["", "a", "/a/", "//", "/a//b", "/a\n", "/" + "x" * 9, "/a" * 4])
def test_wrong_paths(path: str) -> None:
    assert wrong_path(path, depth_max=3, name_chars_max=8)


@cases("path", ["/", "/a", "/a/b/c", "/Å 1"])
def test_good_paths(path: str) -> None:
    assert wrong_path(path, depth_max=3, name_chars_max=8) is None


def test_texts() -> None:
    assert wrong_name("a b", chars_max=3) is None
    assert wrong_name("a\u202eb", chars_max=9)
    assert wrong_attributes({"k": "é" * 4}, count_max=1, bytes_max=9) is None
    assert wrong_attributes({"k": "é" * 5}, count_max=1, bytes_max=9) == (
        "k",
        "11 bytes, at most 9 (attribute_bytes_max)",
    )


def test_problems_of_one_kind_have_its_code_and_others_the_common_one() -> None:
    problems = Problems()
    for number in range(PROBLEMS_MAX + 5):
        problems.add(UnknownField, f"/{number}", "no such field")
    one_kind = problems.error()
    mixed = Problems([*problems.found[:1], (WrongType, problems.found[0][1])], 2).error()

    assert type(one_kind) is UnknownField
    assert len(one_kind.errors) == PROBLEMS_MAX
    assert f"and {PROBLEMS_MAX + 4} more" in one_kind.detail
    assert type(mixed) is InvalidDocument


def test_pointers_are_escaped() -> None:
    assert pointer_of("jobs", 3, "a/b~c") == "/jobs/3/a~1b~0c"
