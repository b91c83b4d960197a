"""A production line as a stranger sets it up: a catalogue by HTTP, parameters, jobs."""

import json
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.conftest import Weft, items, until, weft_up
from plugins.test_http_source import Catalogue, catalogue

__all__ = ["catalogue"]
pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.timeout(300)]
LINE = """
[parameters]
search_first = "7d"
clouds = 50

[source.scenes]
kind = "http"
url = "URL"
query = { type = "L1C", first = "${param.search_first}" }
every = "1s"
job = "snow"

[job.snow]
command = ["sh", "-c", "echo limit $LIMIT"]

[configure.snow]
cancel_if = "item.cloud > param.clouds"
env = { LIMIT = "param.clouds" }
"""
line = fixture_of(
    lambda tmp_path: weft_up(tmp_path / "home", WEFT_SOURCE_PRIVATE_HOSTS="127.0.0.1")
)


def test_items_of_a_catalogue_become_jobs_by_the_parameters_of_the_day(
    line: Weft, catalogue: Catalogue, tmp_path: Path
) -> None:
    scenes = [{"key": "a", "cloud": 40}, {"key": "b", "cloud": 60}]
    catalogue.answer = lambda _path, _query: {"items": scenes}
    (tmp_path / "line.toml").write_text(LINE.replace("URL", catalogue.url))
    applied = line.run("line", "apply", str(tmp_path / "line.toml"))
    assert applied.returncode == 0, applied.stderr
    until(lambda: items(line) == {"a": "b1.j1", "b": "cancelled"})
    assert catalogue.asked[0] == {"type": "L1C", "first": "7d"}
    until(lambda: line.run("logs", "b1.j1").stdout == b"limit 50\n")

    assert line.run("param", "set", "clouds", "70").returncode == 0
    assert line.run("param", "get", "clouds").stdout == b"70\n"
    scenes.append({"key": "c", "cloud": 60})
    until(lambda: items(line).get("c") == "b1.j2")
    until(lambda: line.run("logs", "b1.j2").stdout == b"limit 70\n")
    job = json.loads(line.run("status", "b1.j2", "--json").stdout)
    assert job["attributes"]["param.clouds"] == "2"
    line.told("audit")
