"""A mistake on the command line is named by its option or word, not by a JSON pointer."""

from dataclasses import fields
from pathlib import Path

import pytest

from cases import cases
from weft.cli.app import run_command
from weft.cli.input.job_document import JobOptions, job_document
from weft.cli.input.option_names import name_options, option_of
from weft.core.errors import FieldError, InvalidParameter, NoWorkerFits

EVERYTHING = JobOptions(
    cpu="2",
    memory="1Gi",
    timeout="1h",
    retries=3,
    retry_wait="5s",
    cwd=Path("/"),
    env=("A/B=1",),
    not_before="2027-01-01T00:00:00Z",
    concurrency_key="db=2",
    rate="api=3/1s",
    preemptible=True,
    machine="small",
)


def leaves(value: object, at: str = "") -> list[str]:
    """Return the pointers of all values of a document."""
    if isinstance(value, dict):
        return [
            pointer
            for key, inner in value.items()
            for pointer in leaves(inner, f"{at}/{key.replace('/', '~1')}")
        ]
    if isinstance(value, list):
        return [pointer for n, inner in enumerate(value) for pointer in leaves(inner, f"{at}/{n}")]
    return [at]


def test_each_option_of_a_job_has_its_name() -> None:
    document = {"jobs": [{**job_document(["a", "b"], EVERYTHING, stdin=""), "name": "n"}]}
    places = {option_of(pointer, "run") for pointer in leaves(document)}

    assert places == {
        "word 1 of the command",
        "word 2 of the command",
        "standard input",
        "--name",
        "--cpu",
        "--memory",
        "--timeout",
        "--retries",
        "--retry-wait",
        "--cwd",
        "--env A/B",
        "umask",
        "--not-before",
        "--concurrency-key",
        "--rate",
        "--preemptible",
        "--machine",
    }


def test_field_with_the_name_of_an_option_is_called_like_it() -> None:
    names = [one.name for one in fields(JobOptions)]

    assert "not_before" in names
    for name in names:
        assert option_of(f"/jobs/7/{name}", "run") == "--" + name.replace("_", "-")


@cases(
    ("pointer", "command", "place"),
    [
        ("", "run", "the command line"),
        ("/jobs/0", "run", "the command line"),
        ("/inherit_env", "run", "the environment"),
        ("/name", "rename", "the new name"),
        ("/inherit_env/PATH", "each", "the variable PATH"),
        ("/max_running", "each", "--jobs"),
        ("/jobs/3/resources", "each", "--cpu and --memory"),
        ("?q", "jobs", "the query"),
        ("/attributes/a~1b", "set", "the attribute a/b"),
        ("?limit", "ls", "--limit"),
    ],
)
def test_place(pointer: str, command: str, place: str) -> None:
    assert option_of(pointer, command) == place


def test_many_jobs_of_one_run_have_one_mistake() -> None:
    wrong = [FieldError(f"/jobs/{n}/resources/cpu", "asks for 5 cpu") for n in range(9)]
    error = NoWorkerFits.of(wrong)
    name_options(error, "each")

    assert error.errors == (FieldError("--cpu", "asks for 5 cpu"),)
    assert error.detail == "--cpu: asks for 5 cpu."


@pytest.mark.parametrize("as_json", [False, True])
def test_terminal_shows_the_option_and_programs_the_pointer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    def refuse(_words: list[str], **_more: bool) -> None:
        raise InvalidParameter(
            "the parameter 'limit' is invalid",
            detail="It is 0.",
            hint="See elsewhere.",
            errors=[FieldError("?limit", "it is 0")],
        )

    monkeypatch.setattr("weft.cli.app._dispatch", refuse)
    run_command(["ls", "--limit", "0", *(["--json"] if as_json else [])])
    shown = capsys.readouterr().err

    if as_json:
        assert '"?limit"' in shown
    else:
        assert shown == (
            "weft: the value of --limit is wrong\n  It is 0.\n"
            "  `weft ls --help` shows the form of each option.\n"
        )
