"""Texts of a production line that stand in files beside its own."""

import tomllib
from pathlib import Path

import pytest

from weft.cli.input.line_texts import with_texts
from weft.core.errors import InvalidSetup

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
