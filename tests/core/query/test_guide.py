"""The guide shows queries that are read, and the words that there are."""

import re
from pathlib import Path

import pytest

from cases import cases
from weft.core.query import EVERYTHING, Subject, parse_query
from weft.core.query.fields import FIELDS, STATES

GUIDE = (Path(__file__).resolve().parents[3] / "docs/guides/queries.md").read_text()
BLOCKS = re.findall(r"```query\n(.*?)```", GUIDE, re.DOTALL)


def section(title: str) -> str:
    """Return what stands below a heading."""
    return GUIDE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def terms(title: str) -> list[str]:
    """Return what stands in the first column of a section's table."""
    rows = [line.split("|")[1] for line in section(title).splitlines() if line.startswith("| `")]
    return [term for row in rows for term in re.findall(r"`([^`]+)`", row)]


@cases("text", BLOCKS)
def test_queries_of_the_guide_are_read(text: str) -> None:
    assert parse_query(text, Subject.JOBS) != EVERYTHING


@pytest.mark.parametrize(
    ("subject", "title"),
    [(Subject.JOBS, "Terms for jobs"), (Subject.BATCHES, "Terms for batches")],
)
def test_every_word_has_its_line_in_the_guide(subject: Subject, title: str) -> None:
    found = terms(title)
    for term in found:
        assert parse_query(term, subject) != EVERYTHING

    words = {term.split()[0] for term in found}
    assert set(FIELDS[subject]) <= words
    missing = [word for word in STATES[subject] if f"`{word}`" not in section(title)]
    assert missing == (["running"] if subject is Subject.BATCHES else [])
