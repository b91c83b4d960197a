"""Parameters of job files."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from msgspec import inspect

from api.field_walk import _places
from cases import cases
from weft.cli.app import run_command
from weft.cli.input.file_parameters import FileParameters
from weft.cli.input.job_file import expand
from weft.cli.input.options import WrongOption
from weft.core.errors import InvalidDocument
from weft.core.problems import Problems
from weft.wire.documents.jobs import JobDocument

DECLARED: dict[str, Any] = {
    "run": "r1",
    "n": 3,
    "ratio": 0.5,
    "all": True,
    "day": date(2027, 1, 1),
}
HOSTILE = "';touch PWNED;$(touch PWNED)"


def job_of(job: dict[str, Any], *given: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    found = expand({"parameters": DECLARED, "jobs": [job], **more}, settings=given)
    assert found.keys() == {"jobs", *more}
    one: dict[str, Any] = found["jobs"][0]
    return one


def test_a_text_is_filled_in_and_a_whole_one_has_the_type_of_its_parameter() -> None:
    job = job_of(
        {
            "command": ["echo", "${run}/${n}", "${n}", "${HOME}"],
            "count": "${n}",
            "attributes": {"k": "${run}-${all}"},
            "timeout_s": "${ratio}",
            "env": {"N": "${n}", "n": "mine", "RAW": "$${run}", "I": "${WEFT_INDEX}"},
        },
        "run=r2",
    )

    assert job["command"] == ["echo", "r2/3", "3", "${HOME}"]
    assert (job["count"], job["timeout_s"], job["attributes"]) == (3, 0.5, {"k": "r2-true"})
    assert job["env"] == {
        "run": "r2",
        "n": "mine",
        "ratio": "0.5",
        "all": "true",
        "day": "2027-01-01",
        "N": "3",
        "RAW": "${run}",
        "I": "${WEFT_INDEX}",
    }


@cases(
    "job",
    [
        {"script": "echo ${run} ${HOME}"},
        {"script": "#!/usr/bin/env bash\necho ${run}"},
        {"command": ["sh", "-c", "echo ${run} ${HOME}"]},
        {"command": ["timeout", "5", "bash", "-ec", "echo ${run}"]},
    ],
)
def test_a_value_is_never_a_part_of_a_script(job: dict[str, Any]) -> None:
    """The shell reads it as a variable, in which nothing is run."""
    found = job_of(job, f"run={HOSTILE}")

    assert {name: found[name] for name in job} == job
    assert found["env"]["run"] == HOSTILE


@cases(
    ("job", "pointer", "said"),
    [
        ({"env": {"A": "${runn}"}}, "/jobs/0/env/A", "did you mean run"),
        ({"name": "${x}"}, "/jobs/0/name", "no parameter"),
        ({"inputs": [{"from": "s3://a/${x}"}]}, "/jobs/0/inputs/0/from", "no parameter"),
        ({"container": {"image": "${x}"}}, "/jobs/0/container/image", "no parameter"),
        ({"script": "#!/usr/bin/python3\nprint('${run}')"}, "/jobs/0/script", "no shell reads"),
    ],
)
def test_what_nobody_fills_in_is_refused(job: dict[str, Any], pointer: str, said: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        job_of({"command": ["true"], **job} if "script" not in job else job)

    assert any(
        error.pointer == pointer and said in error.message for error in refused.value.errors
    )


def test_every_text_of_a_job_is_looked_at() -> None:
    """But for programs, which shells read, what is fed to them, and arguments of functions."""
    left = {"command", "script", "stdin", "function"}
    refused, kept = set[str](), set[str]()
    for way, job in _places(inspect.type_info(JobDocument), (str,), "${x}", (), set()):
        if "KEY" not in way:  # of a mapping: no value
            problems = Problems()
            FileParameters({}, (), problems).fill({"jobs": [job]})
            (refused if problems.found else kept).add("/".join(map(str, way)))

    assert {one for one in refused if left & {*one.split("/")}} == set()
    assert {one for one in kept if not left & {*one.split("/")}} == set()
    assert min(len(refused), len(kept)) > len(left) - 1


@cases(
    "given",
    ["n=x", "n=1.5", "ratio=x", "all=1", "day=tomorrow", "unknown=1", "run", "=x", "run=a\0b"],
)
def test_a_value_that_cannot_be_set_is_refused(given: str) -> None:
    with pytest.raises(WrongOption, match="--set"):
        job_of({"command": ["true"]}, given)


@cases(
    ("given", "name", "value"),
    [("n=7", "n", 7), ("ratio=2", "ratio", 2), ("all=false", "all", False), ("run=7", "run", "7")],
)
def test_a_value_has_the_type_of_the_default(given: str, name: str, value: object) -> None:
    found = job_of({"command": ["true"], "x": f"${{{name}}}"}, given)["x"]

    assert (found, type(found)) == (value, type(value))


@cases("declared", ["text", [1], {"a b": 1}, {"a": {"b": 1}}, {"a": None}])
def test_a_wrong_declaration_is_told(declared: object) -> None:
    with pytest.raises(InvalidDocument) as refused:
        expand({"parameters": declared, "jobs": []})

    assert refused.value.errors[0].pointer.startswith("/parameters")


def test_a_mistake_names_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text(
        "parameters: {cores: 1}\n"
        "jobs:\n"
        "  - name: one\n"
        "    command: [run]\n"
        "    resources: {cpu: '${cores}'}\n"
        "    env: {A: '${core}'}\n"
    )

    assert run_command(["submit", str(file), "--dry-run"]) == 2
    said = capsys.readouterr().err
    assert "jobs.yaml:6: job 'one', env.A: ${core} is no parameter" in said
    assert "resources" not in said
    file.write_text(file.read_text().replace("${core}", "${cores}"))
    words = ["submit", str(file), "--dry-run", "--json", "--set", "cores=2"]
    assert run_command(words) == 0
    job = json.loads(capsys.readouterr().out)["jobs"][0]
    assert (job["resources"], job["env"]) == ({"cpu": 2}, {"cores": "2", "A": "2"})
