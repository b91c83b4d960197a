"""Files of Hail's jobs are files of weft's: each form of an address, and which are refused; jobs
that differ by number and command only are read faster, with the same result.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.hail_door import job
from cases import cases
from weft.core.problems import Problems
from weft.settings import Settings
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.fields import are_ordinary
from weft.submission.translation.jobs import translate
from weft.wire.documents.foreign_jobs import ForeignJob
from weft.wire.spec import decode_chunk
from weft_hail.jobs_from_hail import Bunch, alike_to, jobs_of
from weft_hail.requests import Refused

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
        *(f"{one}/x" for one in ("gs://b", "hail-az://a/b", "s3://labs", "s3://other")),
        "",
    ],
    "output_files": [
        *(f"{one}/x" for one in ("gs://b", "https://a", "s3://lab", "file:///shared", "/x")),
        "",
    ],
}


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


TRAP = '"job_id": 7, "command": ["x"]'
KINDS: list[dict[str, Any]] = [
    {},
    {"attributes": {"name": "n"}, "env": [{"name": "A", "value": "/io/x"}], "port": 5000},
    {"env": [{"name": "A", "value": TRAP}]},
    {"attributes": {"command": TRAP, "job_id": "1"}},
    {"in_update_job_group_id": 1, "timeout": 2, "resources": {"cpu": "0.25"}},
    {"absolute_parent_ids": [1], "in_update_parent_ids": []},
    {"input_files": [{"from": "file:///x", "to": "/io/x"}]},
]
COMMANDS: tuple[list[str], ...] = (
    ["cat", "/io/x"],
    ["a"],
    ["b", TRAP],
    ["c", '\\" ] , é \u2028'],
    [],
    ["ls", "/io"],
    ["d" * 400],
)


@pytest.fixture
def bunch(tmp_path: Path) -> Bunch:
    return Bunch(settings=Settings(home=tmp_path), batch_id=1, first_job=5, first_group=2)


def one_by_one(raws: list[bytes], bunch: Bunch) -> list[ForeignJob]:
    return [found for raw in raws for found in jobs_of([raw], bunch)[1]]


def plain(found: ForeignJob) -> dict[str, Any]:
    spec = json.loads(found.original or b"")
    del spec["job_id"], spec["process"]["command"]
    return {**msgspec.structs.asdict(found), "original": spec}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("indent", [None, 2])
def test_jobs_read_as_alike_are_those_read_alone(
    kind: dict[str, Any], indent: int | None, bunch: Bunch
) -> None:
    specs = [job(n, *command, **kind) for n, command in enumerate(COMMANDS, start=1)]
    specs.insert(3, job(99, "x", **kind, user_code="differs"))
    specs = [{**one, "job_id": number} for number, one in enumerate(specs, start=1)]
    raws = [json.dumps(one, indent=indent).encode() for one in specs]
    _, together = jobs_of(raws, bunch)

    assert [plain(one) for one in together] == [plain(one) for one in one_by_one(raws, bunch)]
    assert [list(one.command or ()) for one in together] == [
        one["process"]["command"] for one in specs
    ]


@pytest.mark.parametrize(
    "text",
    [
        b'{"job_id":1,"process":{"type":"docker","command":["x"],"image":"i"},"job_id":1}',
        b'{"env":[{"name":"\\"job_id\\":1","value":""}],"process":{"command":["x"]},"job_id":1}',
        b'{"process":{"command":["x"]},"job_id":1}',
    ],
)
def test_what_is_no_clear_place_is_not_taken_for_one(text: bytes) -> None:
    assert alike_to(text, ForeignJob()) is None


@pytest.mark.parametrize("command", [b"[1]", b"null", b'["a"', b'["a"]}, "x": {"a": []', b""])
def test_a_command_that_is_none_is_refused_as_ever(command: bytes, bunch: Bunch) -> None:
    first, second = (msgspec.json.encode(job(n, "true")) for n in (1, 2))
    second = second.replace(b'["true"]', command)
    with pytest.raises(Refused) as together:
        jobs_of([first, second], bunch)
    with pytest.raises(Refused):
        jobs_of([second], bunch)

    assert together.value.status == 400


def test_a_job_with_more_than_a_command_in_its_place_is_read_alone(bunch: Bunch) -> None:
    raws = [msgspec.json.encode(job(n, "echo", str(n))) for n in range(1, 80)]
    for number in (2, 40, 41):
        word = b'"%d"]' % number
        raws[number - 1] = raws[number - 1].replace(word, word + b',"command":["other"]')
    _, jobs = jobs_of(raws, bunch)

    assert [one.command for one in jobs] == [
        ("other",) if n in {2, 40, 41} else ("echo", str(n)) for n in range(1, 80)
    ]


def test_what_jobs_share_is_stored_once_and_found_in_each(bunch: Bunch) -> None:
    raws = [msgspec.json.encode(job(n, "echo", str(n))) for n in range(1, 301)]
    _, jobs = jobs_of(raws, bunch)
    context = DocumentContext(
        settings=bunch.settings, trace_id="0" * 32, ordinary=are_ordinary(jobs), batch_id=1
    )
    rows = translate(jobs, context, [], Problems()).rows
    specs = [one for body in rows.chunk_body for one in decode_chunk(body)]

    assert [one.command for one in specs] == [("echo", str(n)) for n in range(1, 301)]
    assert {one.original for one in specs} == {raws[0]}
    assert {(one.identity or {})["HAIL_JOB_GROUP_ID"] for one in specs} == {"0"}
    assert sum(map(len, rows.chunk_body)) < 300 * 10
