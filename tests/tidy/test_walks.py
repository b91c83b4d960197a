"""The walks of docs/architecture.md lead through files that exist."""

import re

import pytest

from tidy.source_files import ROOT

_TEXT = (ROOT / "docs/architecture.md").read_text()
_WALKS = re.findall(r"^### (.+)\n\n((?:\d+\. .*\n)+)", _TEXT, re.MULTILINE)
FILES_MAX = {"to `posix_spawn`": 16, "batch's document": 10, "to SIGTERM": 8, "`weft logs -f`": 7}
"""How many files each walk may take, by the end of its title. The numbers only shrink."""


def test_there_are_four_walks() -> None:
    assert len(_WALKS) == len(FILES_MAX)


@pytest.mark.parametrize(("title", "steps"), _WALKS)
def test_walk_leads_through_files_that_exist(title: str, steps: str) -> None:
    lines = steps.splitlines()
    (files_max,) = (most for end, most in FILES_MAX.items() if title.endswith(end))

    for line in lines:
        match = re.fullmatch(r"\d+\. `([^`]+)` – .+", line)
        assert match, f"not a step: {line}"
        path = ROOT / "src/weft" / match[1]
        assert path.is_file(), f"{title}: {match[1]} does not exist"
        for name in re.findall(r"`(_?[a-z_]+)`[,:]", line.partition(" – ")[2]):
            assert name in path.read_text(), f"{title}: {match[1]} has no {name}"
    assert len(lines) <= files_max
