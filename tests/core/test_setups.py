"""Setups: what is wrong with a source or a template is told with its line."""

import pytest

from weft.core.errors import InvalidSetup
from weft.core.lines.setup import parse_setup

SETUP = """\
[source.scenes]
kind = "directory"
path = "/data/in"
job = "snow"
every = "10s"

[job.snow]
command = ["true"]
"""


def test_source_is_taken_as_written() -> None:
    source = parse_setup(SETUP).sources["scenes"]
    assert (source.kind, source.every.total_seconds(), source.options) == (
        "directory", 10, {"path": "/data/in"}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ('path = "/data/in"', 'path = "in"', 3, "absolute path"),
        ('path = "/data/in"', "", 1, "kind directory needs it"),
        ('path = "/data/in"', 'path = "/data/in"\nurl = "x"', 4, "no such field"),
        ('job = "snow"', 'job = "ice"', 4, "there is no [job.ice]"),
        ('job = "snow"', "", 1, "a source needs it"),
        ('every = "10s"', 'every = "10"', 5, 'from "1s" to "1d"'),
        ('every = "10s"', 'every = "1ms"', 5, 'from "1s" to "1d"'),
        ('kind = "directory"', 'kind = "a b"', 2, "a word such as directory"),
        ('kind = "directory"', "kind = 3", 2, "it should be a text"),
        ('command = ["true"]', 'count = 3\ncommand = ["true"]', 8, "an item is one job"),
        ("[source.scenes]", '[source."a b"]', 1, "a name is a word"),
        ("[job.snow]", "[nothing.snow]", 7, "no such part"),
    ],
)
def test_wrong_setup_is_refused_with_its_line(old: str, new: str, line: int, what: str) -> None:
    with pytest.raises(InvalidSetup) as raised:
        parse_setup(SETUP.replace(old, new, 1))
    said = [one.message for one in raised.value.errors]
    assert any(what in one for one in said), said
    assert any(one.startswith(f"line {line}: ") for one in said), said


def test_empty_setup_is_refused() -> None:
    with pytest.raises(InvalidSetup, match="it is empty"):
        parse_setup("")
