"""What jobs will need is looked for before anything runs, on a real server of S3."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Weft
from e2e.s3_server import Buckets
from e2e.test_s3_stores import buckets, weft  # noqa: F401 (fixtures)

pytestmark = pytest.mark.engine(name="s3")


def test_files_are_looked_for_before_anything_runs(
    weft: Weft,  # noqa: F811 (a fixture)
    buckets: Buckets,  # noqa: F811
    tmp_path: Path,
) -> None:
    """`weft submit --check` names what is missing or refused by job and line, and submits nothing
    then.
    """
    buckets.ask("PUT", "genomes/there-1.txt", b"x")
    at = ("--access", "write", "--secret", "results-key", "--endpoint")
    weft.told("store", "add", "away", "s3://results", *at, "http://127.0.0.1:9")
    weft.told("store", "add", "none", "s3://no-such", *at, buckets.url)
    wrong = "sha256:" + "0" * 64
    bad = [
        ("store://genomes/missing.txt", {}, "it is missing"),
        ("store://genomes/there-1.txt", {"checksum": wrong}, "it has another checksum"),
        ("store://none/x.txt", {"to": "n"}, "no such bucket (NoSuchBucket)"),
        ("store://away/x.txt", {"to": "a"}, "127.0.0.1:9 does not answer"),
        ("store://other/x.txt", {"to": "o"}, "there is no store 'other'"),
        ("http://127.0.0.1:1/x", {"to": "u"}, "127.0.0.1 is private"),
        ("weft://b99999.j1/x", {"to": "w"}, "b99999 does not exist"),
    ]
    jobs = [
        {
            "name": "array",
            "script": "true",
            "count": 2,
            "index_from": 1,
            "inputs": [{"from": "store://genomes/there-$WEFT_INDEX.txt"}],
        },
        {
            "name": "bad",
            "script": "true",
            "inputs": [{"from": at, **more} for at, more, _ in bad]
            + [{"from": "store://genomes/not.txt", "optional": True}],
            "outputs": [
                {"from": "o", "to": "store://none/"},
                {"from": "p", "to": "store://away/"},
                {"from": "q", "to": "store://genomes/"},
            ],
        },
    ]
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps({"jobs": jobs}, indent=1))
    before = weft.told("ls", "--json")

    done = weft.run("submit", str(file), "--check")

    refused = json.loads(weft.run("submit", str(file), "--check", "--json").stderr)
    assert refused["code"] == "API.FILES_NOT_READY"
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) != (0, b""), said
    assert "files of jobs are not as they must be" in said
    assert "job 'array', inputs.0.from: store://genomes/there-2.txt: it is missing" in said
    for n, (address, _, problem) in enumerate(bad):
        assert f"job 'bad', inputs.{n}.from: {address}: " in said, (address, said)
        assert problem in said, (problem, said)
    assert "job 'bad', outputs.0.to: store://none/: write: the bucket no-such does not" in said
    assert "outputs.1.to: store://away/: write: 127.0.0.1:9 does not answer" in said
    assert "outputs.2.to: store://genomes/: nothing is written to store 'genomes'" in said
    assert "not.txt" not in said
    assert weft.told("ls", "--json") == before


def test_files_that_are_there_are_submitted(
    weft: Weft,  # noqa: F811 (a fixture)
    buckets: Buckets,  # noqa: F811
    tmp_path: Path,
) -> None:
    for n in (1, 2):
        buckets.ask("PUT", f"genomes/there-{n}.txt", b"x")
    digest = hashlib.sha256(b"x").hexdigest()
    jobs: list[dict[str, Any]] = [
        {
            "name": "array",
            "script": "true",
            "count": 2,
            "index_from": 1,
            "inputs": [{"from": "store://genomes/there-$WEFT_INDEX.txt"}],
        },
        {
            "script": "true",
            "outputs": [{"from": "o", "to": "store://results/"}],
            "inputs": [
                {"from": "store://genomes/there-1.txt", "checksum": f"sha256:{digest}"},
                {"from": "file:///data/x"},
            ],
        },
    ]
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps({"jobs": jobs}))
    dry = weft.run("submit", str(file), "--check", "--dry-run")
    assert dry.returncode == 0, dry.stderr.decode()
    assert b"as they must be: 4; not looked at, as only workers see them: 1" in dry.stderr
    batch = weft.told("submit", str(file), "--check").decode().strip()
    assert batch.startswith("b")
    assert b".weft-trial" not in buckets.ask("GET", "results")
