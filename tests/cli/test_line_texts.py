"""Texts of a production line that stand in files beside its own."""

import tomllib
from pathlib import Path

import pytest

from weft.cli.input.declared import text_of
from weft.cli.input.line_texts import with_texts
from weft.core.errors import InvalidSetup
from weft.extensions.lines.commands.line import _text_of
from weft.extensions.lines.rules.setup import parse_setup

LINE = """
[source.l1c]
query = { type = "L1C", geometry = "@areas/eea39.wkt" }
[sink.portal]
message = '@scene.json.tmpl'
[job.x]
command = ["curl", "-d", "@scene.json.tmpl"]
"""


def test_texts_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "areas").mkdir()
    (tmp_path / "areas" / "eea39.wkt").write_text("POLYGON((1 2))\n")
    template = '{"a": "\\u00e9 \x7f",\n "b": {{ job.id | tojson }}}'
    (tmp_path / "scene.json.tmpl").write_text(template)
    found = tomllib.loads(with_texts(LINE, tmp_path))
    assert found["source"]["l1c"]["query"] == {"type": "L1C", "geometry": "POLYGON((1 2))"}
    assert found["sink"]["portal"]["message"] == template
    assert found["job"]["x"]["command"][2] == "@scene.json.tmpl"


@pytest.mark.parametrize("name", ["/etc/hostname", "../x", "missing.wkt"])
def test_file_that_is_not_beside_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetup):
        with_texts(LINE.replace("areas/eea39.wkt", name), tmp_path)


def test_what_is_no_toml_is_for_the_api(tmp_path: Path) -> None:
    assert with_texts("[[", tmp_path) == "[["


def test_values_are_written_for_people() -> None:
    """Lists of tables, too: nobody reads Python in what a file changes."""
    rules = [{"codes": "1-9", "tries": 3}, {"codes": "10", "tags": ["a", "b"]}]
    assert text_of(rules) == "codes 1-9, tries 3; codes 10, tags a, b"
    assert text_of(["true", 1, []]) == "true, 1, "


def test_file_that_cannot_be_read_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetup) as raised:
        _text_of(tmp_path / "gone.toml")
    assert raised.value.detail == "No such file or directory."
    assert raised.value.hint == "Name the TOML file of a line."
    with pytest.raises(InvalidSetup, match="cannot be used") as raised:
        parse_setup("[source.x")
    assert raised.value.detail.startswith("Expected ']'")
