"""Subjects of commits are short and begin with their area."""

import re
import subprocess

import pytest

from tidy.exceptions import LONG_SUBJECTS
from tidy.source_files import ROOT

FIRST = "a9c94e2"
"""The rule is checked from here on."""
CHARS_MAX = 60
_AREAS = r"[a-z][a-z0-9_-]*( [a-z]+)?"
_SUBJECT = re.compile(rf"{_AREAS}(, {_AREAS})*: \S.*[^.\s]")


def subjects() -> dict[str, str]:
    """Return the subject of each commit by its short hash. Skip the test without history."""
    listed = subprocess.run(
        ["git", "log", "--no-merges", "--abbrev=7", "--format=%h %s", f"{FIRST}..HEAD"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if listed.returncode != 0:
        pytest.skip("the history of the repository is not here")
    lines = (line.partition(" ") for line in listed.stdout.splitlines())
    return {commit[:7]: subject for commit, _, subject in lines}  # a longer hash: one is alike


def is_good(subject: str) -> bool:
    return len(subject) <= CHARS_MAX and _SUBJECT.fullmatch(subject) is not None


def test_subjects_name_their_area_and_fit() -> None:
    wrong = {commit: subject for commit, subject in subjects().items() if not is_good(subject)}

    assert wrong.keys() == LONG_SUBJECTS & subjects().keys(), wrong


@pytest.mark.parametrize(
    ("subject", "good"),
    [
        ("api: give each text a limit", True),
        ("log store, testing: await reads", True),
        ("Fix it", False),
        ("api: give each text a limit.", False),
        ("api:", False),
        (f"api: {'x' * 56}", False),
    ],
)
def test_which_subjects_are_good(subject: str, *, good: bool) -> None:
    assert is_good(subject) is good


def test_commits_that_blame_passes_over_are_there() -> None:
    """Git blame refuses to work with a file that names another one."""
    subjects()  # skips without a history
    lines = (ROOT / ".git-blame-ignore-revs").read_text().splitlines()
    named = [line for line in lines if not line.startswith("#")]
    known = subprocess.run(
        ["git", "rev-list", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True
    )

    assert named
    assert set(named) <= set(known.stdout.split())
