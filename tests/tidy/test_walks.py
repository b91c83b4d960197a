"""The walks of docs/architecture.md lead from file to file, by functions that are there."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tidy.source_files import ROOT, named_functions, tree_of

_TEXT = (ROOT / "docs/architecture.md").read_text()
_WALKS = re.findall(r"^### (.+)\n\n((?:\d+\. .*\n)+)", _TEXT, re.MULTILINE)
FILES_MAX = {
    "to `posix_spawn`": 28,
    "batch's document": 14,
    "to SIGTERM": 14,
    "`weft logs -f`": 12,
}
"""How many files each walk may take, by the end of its title. The numbers only shrink."""
GUIDE: Final = "`What a new part touches` of CONTRIBUTING.md"
UNTOLD: Final = re.compile(r"\(by a (notice|message|callback|request)\)|\(by the kernel\)")
"""A step that nothing before it calls says how it learns of it."""


class Step(NamedTuple):
    """A line of a walk."""

    path: Path
    names: tuple[str, ...]
    text: str


@cache
def defined_in(path: Path) -> frozenset[str]:
    """Return the names of the functions that a file defines."""
    if path.suffix == ".sql":
        return frozenset(re.findall(r"FUNCTION weft\.(\w+)", path.read_text()))
    declared = re.findall(r"^    (\w+) = calls\(", path.read_text(), re.MULTILINE)
    return frozenset(name.split(".")[-1] for name, _ in named_functions(tree_of(path))) | {
        *declared
    }


def step_of(line: str) -> Step:
    match = re.fullmatch(r"\d+\. `([^`]+)` – (.+)", line)
    assert match, f"not a step: {line}"
    path = ROOT / "src/weft" / match[1]
    assert path.is_file(), f"{match[1]} does not exist"
    if path.suffix == ".sql":
        return Step(path, (path.stem,), match[2])
    names = tuple(re.findall(r"`(\w+)`", match[2].partition(":")[0]))
    return Step(path, names, match[2])


def calls(caller: Step, called: Step) -> bool:
    """Say whether the file of one step uses a function of another step."""
    text = re.sub(r"\bdef \w+", "", caller.path.read_text())
    return any(re.search(rf"\b{name}\b", text) for name in called.names)


def is_linked(earlier: list[Step], step: Step) -> bool:
    """Say whether a step follows from those before it: by a call, or as it says itself."""
    if UNTOLD.search(step.text):
        return True
    return any(calls(one, step) for one in earlier) or calls(step, earlier[-1])


@pytest.mark.parametrize(("title", "steps"), _WALKS)
def test_steps_of_a_walk_have_their_functions_and_lead_to_each_other(
    title: str, steps: str
) -> None:
    found = [step_of(line) for line in steps.splitlines()]
    assert len(_WALKS) == len(FILES_MAX)
    (files_max,) = (most for end, most in FILES_MAX.items() if title.endswith(end))

    for step in found:
        assert step.names, f"{title}: {step.path.name} names no function"
        assert set(step.names) <= defined_in(step.path), f"{title}: {step}"
    for number, (_, step) in enumerate(pairwise(found), 1):
        assert is_linked(found[:number], step), f"{title}: nothing leads to {step.path}"
    assert len(found) <= files_max


def test_pages_of_packages_name_what_is_there() -> None:
    """A path may begin at the page, the product or a folder that the page names."""
    folders = ("src/weft", "docs", "packages", "integrations")
    files = [
        ROOT / "CONTRIBUTING.md",
        *(one for folder in folders for one in (ROOT / folder).rglob("*.*")),
    ]
    for page in (ROOT / "packages").glob("[a-z]*/"):
        assert (page / "README.md").is_file(), f"{page.name}/ has no README.md, as {GUIDE} asks"
        text = (page / "README.md").read_text()
        for name, held in re.findall(r"`(\w[\w./-]*(?:\.py|\.sql|\.md|/))`(?:, `(\w+)`)?", text):
            found = [one for one in files if f"/{name}" in f"{one}"]
            assert found, f"{page.name}: {name} is not there"
            known = not held or any(held in one.read_text() for one in found)
            assert known, f"{page.name}: {name} has no {held}"
