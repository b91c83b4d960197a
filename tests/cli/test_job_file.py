"""Job files: what they may say besides a document, and where their mistakes are."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import inspect

from api.field_walk import _usual
from cases import cases
from submission.test_translate import rows_of
from weft.cli.app import USAGE, run_command
from weft.cli.commands.submit import submit
from weft.cli.input.documents import Format, parse_document
from weft.cli.input.job_file import _OWN_DIRECTORY, directory_of, expand, run_in
from weft.cli.input.job_values import with_values
from weft.cli.input.mistake_lines import point_to_lines
from weft.client.progress_bar import Counts
from weft.client.submission.upload import fill_in_bunches
from weft.core.errors import FieldError, InvalidDocument, InvalidValue, WrongType
from weft.run.home import Home
from weft.wire.documents.jobs import JobDocument

FILE = """name: p
x-common: &common {THREADS: "4"}
defaults:
  timeout_s: 1h30m
  env: *common
  command: [sort]
jobs:
  - name: one
    script: echo
    env: {MORE: 5}
  - {name: two, x-note: mine}
"""


def test_defaults_give_way_and_own_keys_are_left_out() -> None:
    one, two = expand(parse_document(FILE.encode(), "yaml", name="p"))["jobs"]

    assert one == {
        "name": "one",
        "script": "echo",
        "timeout_s": 5400,
        "env": {"THREADS": "4", "MORE": 5},
    }
    assert two == {
        "name": "two",
        "command": ["sort"],
        "timeout_s": 5400,
        "env": {"THREADS": "4"},
    }


def test_values_of_an_array_are_the_lines_of_a_file_beside_the_job_file(tmp_path: Path) -> None:
    (tmp_path / "samples.txt").write_bytes("a b\r\n\n\u00e9\x0bc\nlast".encode())
    document = {"jobs": [{"values_file": "samples.txt", "command": ["run", "{value}"]}]}

    assert expand(document, directory=tmp_path)["jobs"] == [
        {"values": ["a b", "\u00e9\x0bc", "last"], "command": ["run", "{value}"]}
    ]


@pytest.fixture(name="home")
def home_with_a_server(tmp_path: Path) -> Path:
    Home(tmp_path / "home").prepare()
    Home(tmp_path / "home").write_client("http://127.0.0.1:1", "a token")
    return tmp_path / "home"


def mistakes_of(job: dict[str, Any]) -> set[str]:
    try:
        rows_of([job])
    except InvalidDocument as refused:
        return {error.pointer for error in refused.errors}
    return set()


@cases("name", [one for one in JobDocument.__struct_fields__ if one != "cwd"])
def test_no_field_is_refused_for_the_directory_of_the_file(home: Path, name: str) -> None:
    kind = inspect.type_info(JobDocument)
    assert isinstance(kind, inspect.StructType)
    field = next(one for one in kind.fields if one.name == name)
    job = {"command": ["true"], field.encode_name: _usual(field)}
    before = mistakes_of(job)
    run_in(Path("jobs"), {"jobs": [job]}, home=home)

    assert mistakes_of(job) == before
    assert job.get("cwd") == (None if name in _OWN_DIRECTORY else f"{Path.cwd()}/jobs")


@cases(
    ("job", "kept"),
    [
        ({"command": ["true"], "cwd": None}, None),
        ({"script": "true", "cwd": "/tmp"}, "/tmp"),
        ({"name": "nothing"}, "none"),
        ({"command": ["true"], "container": {"image": "busybox"}}, "none"),
    ],
)
def test_what_a_job_says_of_its_directory_counts(
    home: Path, job: dict[str, Any], kept: str | None
) -> None:
    document = expand({"jobs": [job]})
    run_in(Path("jobs"), document, home=home)

    assert document["jobs"][0].get("cwd", "none") == kept


@cases("named", ["WEFT_URL=http://127.0.0.1:1", "WEFT_HOME=/nowhere"])
def test_jobs_of_a_server_elsewhere_have_an_empty_directory(
    named: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_HOME", str(home))
    monkeypatch.setenv(*named.split("="))
    document = {"jobs": [{"script": "true"}]}
    run_in(Path("jobs"), document, home=None)

    assert document == {"jobs": [{"script": "true"}]}


def test_the_directory_of_what_is_no_file_is_that_of_the_caller(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "jobs.yaml"
    os.mkfifo(pipe)
    file.touch()

    assert [directory_of(str(one)) for one in ("-", "/dev/stdin", pipe)] == [Path()] * 3
    assert directory_of(str(file)) == tmp_path


@cases(
    ("job", "message"),
    [
        ({"values_file": "missing"}, "No such file"),
        ({"values_file": "."}, "Is a directory"),
        ({"values_file": "empty"}, "no lines"),
        ({"values_file": "binary"}, "not UTF-8: byte 1"),
        ({"values_file": 7}, "name of a file"),
        ({"values_file": "a\0"}, "name of a file"),
        ({"values_file": "empty", "values": ["a"]}, "not both"),
    ],
)
def test_a_file_of_values_that_is_wrong_is_named(
    tmp_path: Path, job: dict[str, Any], message: str
) -> None:
    (tmp_path / "empty").write_text("\n\n")
    (tmp_path / "binary").write_bytes(b"a\xff")

    with pytest.raises((WrongType, InvalidValue)) as refused:
        expand({"jobs": [{}, job]}, directory=tmp_path)

    assert [one.pointer for one in refused.value.errors] == ["/jobs/1/values_file"]
    assert message in refused.value.errors[0].message


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"defaults": [1], "jobs": []}, "/defaults"),
        ({"jobs": [{}, {"timeout_s": "soon"}]}, "/jobs/1/timeout_s"),
    ],
)
def test_wrong_defaults_and_durations_are_refused(document: dict[str, Any], pointer: str) -> None:
    with pytest.raises((WrongType, InvalidValue)) as refused:
        expand(document)

    assert [one.pointer for one in refused.value.errors] == [pointer]


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    """Those of the file, and those of the document that it means."""
    jobs = [{"timeout_s": "soon"}, {"command": "x"}, 7, {"nmae": "n", "values_file": 1}]

    with pytest.raises(InvalidDocument) as refused:
        expand({"attributes": 3, "jobs": jobs})

    assert sorted(one.pointer for one in refused.value.errors) == [
        "/attributes",
        "/jobs/0/timeout_s",
        "/jobs/1/command",
        "/jobs/2",
        "/jobs/3/nmae",
        "/jobs/3/values_file",
    ]


def test_a_dry_run_tells_all_mistakes_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("jobs:\n- {command: x}\n- {priority: high}\n- command: echo a | wc\n")

    assert run_command(["submit", "--dry-run", str(file)]) == USAGE
    told = capsys.readouterr().err
    assert f'{file}:2: job 1, command: expected a list, got text: write ["x"]' in told
    assert f"{file}:3: job 2, priority: expected a whole number, got text" in told
    assert "a shell reads such a line: write script: echo a | wc" in told


@cases(
    ("pointer", "message", "shown"),
    [
        (
            "/jobs/0/env/MORE",
            "expected text, got a number",
            "p.yaml:10: job 'one', env.MORE: 5 is a number, and text is needed: write \"5\".",
        ),
        (
            "/name",
            "expected a list, got text",
            'p.yaml:1: name: expected a list, got text: write ["p"].',
        ),
        ("/jobs/1/timeout_s", "too long", "p.yaml:4: defaults.timeout_s: too long."),
        ("/jobs/1/cwd", "too long", "p.yaml:11: job 'two', cwd: too long."),
        ("/jobs/1", "wrong", "p.yaml:11: job 'two': wrong."),
        ("/name", "empty", "p.yaml:1: name: empty."),
        ("", "empty", "p.yaml:1: empty."),
    ],
)
def test_mistake_has_its_line_its_job_and_its_field(
    pointer: str, message: str, shown: str
) -> None:
    error = InvalidDocument.of([FieldError(pointer, message)])
    body = FILE.encode()
    point_to_lines(
        error, file="p.yaml", body=body, document=parse_document(body, "yaml", name="p")
    )

    assert error.detail == shown


def test_place_of_a_mistake_is_short_however_long_its_names_are() -> None:
    body = f'{{"jobs": [{{"name": "{"x" * 10**6}"}}]}}'
    (place,) = _told(body, "json", (f"/jobs/0/env/{'y' * 10**6}", "wrong"))

    assert len(place) < 300


def _told(body: str, form: Format, *errors: tuple[str, str]) -> list[str]:
    error = WrongType.of([FieldError(*one) for one in errors])
    document = parse_document(body.encode(), form, name="p")
    point_to_lines(error, file="p", body=body.encode(), document=document)
    return [f"{one.pointer}: {one.message}" for one in error.errors]


@cases(
    ("written", "kind", "needed"),
    [
        ("0644", "a number", "text"),
        ("1.10", "a number", "text"),
        ("0x1F", "a number", "text"),
        ("yes", "true or false", "text"),
        ("null", "nothing", "text"),
        ("18:00", "a number", "a time"),
    ],
)
def test_value_that_needs_quotes_is_advised_as_it_was_written(
    written: str, kind: str, needed: str
) -> None:
    told = _told(
        f"jobs:\n- {{command: [chmod, {written}, f]}}\n",
        "yaml",
        ("/jobs/0/command/1", f"expected {needed}, got something"),
    )
    assert told == [
        f'p:2: job 1, command.1: {written} is {kind}, and {needed} is needed: write "{written}"'
    ]


def test_value_of_json_is_advised_as_it_was_written_and_one_of_toml_without_it() -> None:
    mistake = ("/jobs/0/command/0", "expected text, got a number")
    assert _told('{"jobs": [{"command": [1.10]}]}', "json", mistake) == [
        'p:1: job 1, command.0: 1.10 is a number, and text is needed: write "1.10"'
    ]
    assert _told(
        '[[jobs]]\nname = "a"\n[[jobs]]\ncommand = [0o644]\n',
        "toml",
        (
            "/jobs/1/command/0",
            mistake[1],
        ),
    ) == ["p:4: job 2, command.0: expected text, got a number: put it in quotes"]


@pytest.mark.parametrize(
    ("body", "form", "where"),
    [
        ("jobs:\n- {name: a}\n- {name: b}\ndefaults:\n  retries: 3\n", "yaml", "p:5"),
        ("[[jobs]]\n[[jobs]]\n[defaults]\nretries = 3\n", "toml", "p:4"),
    ],
)
def test_mistake_among_the_defaults_is_told_once_and_there(
    body: str, form: Format, where: str
) -> None:
    told = _told(body, form, ("/jobs/0/retries", "wrong"), ("/jobs/1/retries", "wrong"))
    assert told == [f"{where}: defaults.retries: wrong"]


@pytest.mark.parametrize("first", ["timeout_s: soon", "command: x", "priority: 0"])
def test_values_for_the_server_are_told_in_the_first_round(
    first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside a wrong duration, beside a wrong type, and alone."""
    file = tmp_path / "p.yaml"
    jobs = ["{name: a, parents: [j7, a, nobody]}", "{resources: {cpu: 1, memory: 5 apples}}"]
    file.write_text(f"jobs:\n- {{{first}}}\n" + "".join(f"- {one}\n" for one in jobs))
    assert run_command(["submit", "--dry-run", str(file)]) == USAGE

    told = capsys.readouterr().err
    assert (f"{file}:2: job 1, {first.partition(':')[0]}: " in told) == (first != "priority: 0")
    assert f"{file}:3: job 'a', parents.2: no job of the document is named 'nobody'" in told
    assert f"{file}:4: job 3, resources.memory: '5 apples' is not a size" in told
    assert told.count(str(file)) == 2 + (first != "priority: 0")


def test_answer_of_the_server_is_told_with_the_values_that_it_does_not_name() -> None:
    document = {"jobs": [{"command": "x"}, {"resources": {"cpu": "much", "memory": "1Gi"}}]}
    answers = [
        WrongType.of([FieldError("/jobs/0/command", "expected a list")]),
        InvalidValue.of([FieldError("/jobs/1/resources/cpu", "wrong")]),
    ]
    wrong_type, wrong_value = (with_values(one, document) for one in answers)

    assert [one.pointer for one in wrong_type.errors] == [
        "/jobs/0/command",
        "/jobs/1/resources/cpu",
    ]
    assert wrong_type.message == "several fields are wrong"
    assert wrong_value is answers[1]


def test_dry_run_checks_the_file_and_sends_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("name: p\njobs:\n- {name: a, count: 3}\n- {name: b, parents: [a]}\n")
    assert submit(str(file), dry_run=True) == 0
    assert capsys.readouterr().err == "weft: would submit the batch 'p' with 4 jobs\n"
    file.write_text("name: p\njobs:\n- {name: a, group: /x}\n")
    assert submit(str(file), dry_run=True) == 0
    assert capsys.readouterr().err == "weft: would submit the batch 'p' with 1 job in 1 group\n"

    file.write_text("jobs:\n- {name: b, parents: [c]}\n")
    with pytest.raises(InvalidDocument, match=r"p.yaml:2: job 'b', parents.0"):
        submit(str(file), dry_run=True)
    file.write_text(json.dumps({"jobs": [{"priority": "high"}]}))
    with pytest.raises(WrongType, match=r"p.yaml:1: job 1, priority"):
        submit(str(file), dry_run=True)
    file.write_text("jobs:\n- {group: x}\n")
    with pytest.raises(InvalidDocument, match=r"p.yaml:2: job 1, group: 'x' does not begin"):
        submit(str(file), dry_run=True)
    file.write_text(json.dumps({"jobs": [{"parents": 7}] * 2001}))
    with pytest.raises(WrongType, match=r"p.yaml:1: job 1, parents"):
        submit(str(file))


def test_reading_yaml_tells_how_far_it_is() -> None:
    body = ("jobs:\n" + "- {name: a, command: [x]}\n" * 5_000).encode()
    shares: list[float] = []
    document = parse_document(body, "yaml", name="p", on_read=shares.append)

    assert len(document["jobs"]) == 5_000
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 0.3
    assert 0.9 < shares[-1] <= 1
    assert len({round(share, 1) for share in shares}) > 8


@pytest.mark.slow
@pytest.mark.parametrize("reached", [0.1, 0.9])
def test_interrupt_while_reading_ends_at_once_and_sends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reached: float
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("jobs:\n" + "- {name: a, command: [x]}\n" * 50_000)

    def draw(_line: object, counts: Counts) -> None:
        if counts.done >= reached * (counts.total or 0):
            raise KeyboardInterrupt

    monkeypatch.setattr("weft.cli.commands.submit.is_bar_drawable", lambda: True)
    monkeypatch.setattr("weft.cli.commands.submit.ProgressLine.draw", draw)
    monkeypatch.setattr("weft.cli.commands.submit._submit", pytest.fail)

    with pytest.raises(KeyboardInterrupt):
        submit(str(file))


class _Server:
    """Creates a batch and then waits for ever."""

    def __init__(self) -> None:
        self.deleted: list[int] = []

    async def create_batch(self, _batch: object, *, key: str | None) -> dict[str, Any]:
        assert key is None
        return {"id": 7}

    async def delete_batch(self, batch_id: int) -> None:
        self.deleted.append(batch_id)


async def test_interrupted_submission_leaves_no_batch() -> None:
    server, planning = _Server(), asyncio.Event()

    async def plan(_batch_id: int) -> Any:  # noqa: ANN401 (never returns)
        planning.set()
        await asyncio.Event().wait()

    api: Any = server
    task = asyncio.create_task(fill_in_bunches(api, plan, batch={}))
    await planning.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert server.deleted == [7]
