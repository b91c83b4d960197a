"""Files of Hail's jobs are files of weft's: each form of an address, and which are refused."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.hail_door import job
from cases import cases
from weft.extensions.doors.hail.jobs_from_hail import Bunch, jobs_of
from weft.extensions.doors.hail.requests import Refused
from weft.settings import Settings
from weft.wire.documents.foreign_jobs import ForeignJob

STORES = [
    {"name": "lab", "url": "s3://lab", "access": "read"},
    {"name": "mine", "url": "s3://lab/mine/", "access": "write"},
]
SHARED, OWN = "file:///shared/tmp/u1/job-x/out", "/io/batch/u1/job-x/out"
FORMS = {
    "input_files": {
        ("s3://lab/a/x", "/io/b/"): ("store://lab/a/x", "b/"),
        ("s3://lab/mine/x", "/io/x"): ("store://mine/x", "x"),
        ("s3://lab/minex", "/io/x"): ("store://lab/minex", "x"),
        ("file:///data/50%", "/io/x"): ("file:///data/50%25", "x"),
        ("/data/x", "/io/x"): ("file:///data/x", "x"),
        ("https://example.org/x", "/io/x"): ("https://example.org/x", "x"),
        ("weft://b1.j2/x", "/io/x"): ("weft://b1.j2/x", "x"),
        (SHARED, OWN): (OWN[4:], OWN[4:]),
        (SHARED, "/io/batch/u1/inputs/out"): (SHARED, "batch/u1/inputs/out"),
        (SHARED, "/io/batch/out"): (SHARED, "batch/out"),
    },
    "output_files": {
        ("/io/x", "s3://lab/mine/a/y"): ("x", "store://mine/a/y"),
        ("/io/a/x", "s3://lab/mine/to/"): ("a/x", "store://mine/to/x"),
        ("/io/dir/", "s3://lab/mine/to"): ("dir/", "store://mine/to"),
        ("/io/dir/*.txt", "s3://lab/mine"): ("dir/*.txt", "store://mine/"),
        ("/io/x", "results/x"): ("x", "results/x"),
        (OWN, SHARED): (OWN[4:], OWN[4:]),
    },
}
REFUSED = {
    "input_files": [
        *(f"{one}/x" for one in ("gs://b", "hail-az://a/b", "s3://labs", "s3://other")), "",
    ],
    "output_files": [
        *(f"{one}/x" for one in ("gs://b", "https://a", "s3://lab", "file:///shared", "/x")), "",
    ],
}  # fmt: skip


def read(tmp_path: Path, *command: str, **more: Any) -> ForeignJob:  # noqa: ANN401 (a spec)
    bunch = Bunch(settings=Settings(home=tmp_path), batch_id=1, stores=STORES)
    return jobs_of([msgspec.json.encode(job(1, *command, **more))], bunch)[1][0]


@cases("key", FORMS)
def test_each_form_of_an_address_is_one_of_weft(key: str, tmp_path: Path) -> None:
    for (source, to), expected in FORMS[key].items():
        found = read(tmp_path, **{key: [{"from": source, "to": to}]})
        files: list[Any] = [*(found.inputs or ()), *(found.outputs or ())]

        assert [(one.from_, one.to) for one in files] == [expected], (source, to)
        assert found.own_paths == ("/io",)


@cases("key", REFUSED)
def test_what_is_in_no_store_is_refused_with_what_there_is(key: str, tmp_path: Path) -> None:
    is_input = key == "input_files"
    for url in REFUSED[key]:
        file = {"from": url, "to": "/io/x"} if is_input else {"from": "/io/x", "to": url}
        with pytest.raises(Refused, match=r"nothing here is at .*; there is .* s3://lab/mine/…"):
            read(tmp_path, **{key: [file]})
    for own in ("/x", "x", "/io", "/io/", "/io/../x", "/io//x", "/ios/x", "/data/io/x"):
        with pytest.raises(Refused, match=r"is not below /io|no empty part|not relative"):
            read(tmp_path, input_files=[{"from": "s3://lab/x", "to": own}])


def test_tools_of_the_client_are_done_without_them(tmp_path: Path) -> None:
    files = json.dumps([{"from": "s3://lab/a/x", "to": "s3://lab/mine/"}])
    copied = read(tmp_path, "python3", "-m", "hailtop.aiotools.copy", "null", files)
    removed = read(tmp_path, "python3", "-m", "hailtop.aiotools.delete", "s3://lab/mine/tmp")

    assert [(one.from_, one.to) for one in copied.inputs or ()] == [("store://lab/a/x", "0/x")]
    assert [(one.from_, one.to) for one in copied.outputs or ()] == [("0/x", "store://mine/x")]
    assert (copied.command, (removed.command or ())[0]) == (("true",), "echo")
