"""Options of a job with impossible values: the message names the option."""

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cases import cases
from weft.cli.app import build_app, run_command
from weft.cli.input.batch_options import BatchOptions, batch_fields
from weft.cli.input.job_document import JobOptions, option_fields, placed_fields
from weft.cli.input.job_file import expand
from weft.cli.input.limit_options import parse_moment
from weft.cli.input.option_names import option_of
from weft.cli.input.options import NotAnAttribute, WrongOption
from weft.cli.input.shape_options import shape_fields


@cases(
    ("option", "text", "reason"),
    [
        ("memory", "1000", "has no unit"),
        ("memory", "0", "no memory"),
        ("memory", "-4Gi", "negative"),
        ("storage", "10", "has no unit"),
        ("resource", ("rack",), "is not as rack=4"),
        ("cpu", "0", "no cores"),
        ("cpu", "two", "such as 2, 0.25 or 250m"),
        ("timeout", "0", "no time"),
        ("log_max", "much", "not a size"),
        ("log_keep", "0", "no time"),
        ("timeout", "soon", "such as 90, 10m"),
        ("retry_wait", "0", "neither a time such as 30s"),
        ("retry_wait", "linear", "nor exponential, nor stepwise"),
        ("concurrency_key", "", "has no key: write it as db-x"),
        ("concurrency_key", "db=x", "with the key db may run at a time"),
        ("concurrency_key", "db=0", "at least 1"),
        ("rate", "api", "has no period: write it as api=10/1s"),
        ("rate", "api/1s", "has no number"),
        ("rate", "api=0/1s", "at least 1"),
        ("rate", "=1/1s", "has no key"),
        ("rate", "api=1/soon", "soon"),
        ("not_before", "tomorrow", "such as 18:00, 2h (from now) or 2027-01-01T02:00:00Z"),
        ("deadline", "2026-02-30", "such as 18:00, 2h (from now) or 2027-01-01T02:00:00Z"),
        ("not_before", "+soon", "such as 18:00, 2h (from now) or 2027-01-01T02:00:00Z"),
        ("not_before", "+9999999999d", "such as 18:00, 2h (from now) or 2027-01-01T02:00:00Z"),
    ],
)
def test_wrong_value_is_refused_with_the_name_of_its_option(
    option: str, text: str | tuple[str, ...], reason: str
) -> None:
    values: dict[str, Any] = {option: text}
    with pytest.raises(WrongOption, match=f"--{option.replace('_', '-')}") as refused:
        option_fields(JobOptions(**values))

    assert refused.value.code == "CLI.WRONG_OPTION"
    assert reason in refused.value.detail


@pytest.mark.parametrize("command", ["run", "each", "submit"])
def test_what_a_job_needs_is_asked_for_in_each_command(command: str, tmp_path: Path) -> None:
    file = tmp_path / "jobs.json"
    file.write_text('{"jobs": []}')
    words = ["--storage=10Gi", "--gpu=2", "--resource=rack=4", "--image=python:3.12"]
    rest = [str(file)] if command == "submit" else ["--", "true"]
    _, bound, _ = build_app(command).parse_args([command, *words, *rest])

    fields = shape_fields(bound.arguments["options"])
    assert fields == {
        "resources": {"storage": "10Gi", "gpu": 2, "rack": "4"},
        "container": {"image": "docker://python:3.12"},
    }
    options = bound.arguments["options"]
    assert command == "submit" or "cwd" not in placed_fields(options)
    job = {"resources": {"gpu": 1}}
    document = {"defaults": {"resources": {"cpu": 2, "gpu": 9}}, "jobs": [job]}
    (expanded,) = expand(document, fields)["jobs"]
    assert expanded["resources"] == {"cpu": 2, "gpu": 1, "storage": "10Gi", "rack": "4"}


def test_output_is_kept_as_long_and_as_much_as_options_say() -> None:
    fields = option_fields(JobOptions(log_max="1M", log_keep="1d"))

    assert fields == {"log": {"max_bytes": 1_000_000, "keep_s": 86_400}}
    assert option_of("/jobs/0/log/keep_s", "run") == "--log-keep"


def test_a_batch_has_a_payer_and_attributes_beside_its_own() -> None:
    options = BatchOptions(billing_project="genomics", attribute=("cohort=x", "kind=b"))

    assert batch_fields(options, {"kind": "a", "of": "each"}) == {
        "billing_project": "genomics",
        "attributes": {"kind": "b", "of": "each", "cohort": "x"},
    }
    assert batch_fields(BatchOptions()) == {}
    with pytest.raises(NotAnAttribute):
        batch_fields(BatchOptions(attribute=("cohort",)))


@pytest.mark.parametrize("command", ["run", "each"])
def test_words_before_the_hyphens_are_refused(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """They would become the first words of the command."""
    assert run_command([command, "cohort=x", "--", "true"]) == 2
    assert "'cohort=x' stands before the two hyphens" in " ".join(capsys.readouterr().err.split())


def test_units_are_those_that_people_write() -> None:
    fields = option_fields(JobOptions(cpu="250m", memory="4gi", timeout="1h30m"))

    assert fields == {"resources": {"cpu": "250m", "memory": "4gi"}, "timeout_s": 5400}


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("1m30s", {"policy": "constant", "wait_s": 90}),
        ("exponential", {"policy": "exponential"}),
        ("stepwise", {"policy": "stepwise"}),
    ],
)
def test_wait_before_a_retry_is_a_time_or_a_policy(text: str, policy: dict[str, Any]) -> None:
    fields = option_fields(JobOptions(retries=2, retry_wait=text))

    assert fields == {"max_attempts": 3, "retry": policy}


def test_options_say_after_which_ends_a_job_is_tried_again() -> None:
    fields = option_fields(
        JobOptions(
            retry_on=("oom, exit:3", "signal:USR1"),
            external_errors=("66,70-74",),
            exit_codes=("200-207=success: no product", "9 = success"),
            retry_with=(
                "oom,exit:9: memory x2 up to 16Gi after 2",
                "preempted : stays",
                "timeout: timeout x2 up to 4h",
            ),
        )
    )

    assert fields == {
        "retry_on": ["oom", "exit:3", "signal:USR1"],
        "external_errors": ["66", "70-74"],
        "exit_codes": {"200-207": "success: no product", "9": "success"},
        "retry_with": [
            {"on": ["oom", "exit:9"], "memory": "x2", "up_to": "16Gi", "after": 2},
            {"on": ["preempted"], "preemptible": False},
            {"on": ["timeout"], "timeout": "x2", "up_to": "4h"},
        ],
    }


@cases(
    ("options", "told"),
    [
        ({"retry_on": ("oom,",)}, "A word is missing"),
        ({"external_errors": ("",)}, "A word is missing"),
        ({"exit_codes": ("9",)}, "'9' is not as"),
        ({"retry_with": ("memory x2",)}, "'memory x2' is no rule such as"),
        ({"retry_with": ("oom: patience x2",)}, "is no rule such as"),
        ({"retry_with": (": memory x2",)}, "is no rule such as"),
    ],
)
def test_texts_about_retries_that_say_nothing(options: dict[str, Any], told: str) -> None:
    with pytest.raises(WrongOption) as caught:
        option_fields(JobOptions(**options))

    assert told in str(caught.value.detail)


def test_jobs_of_a_file_are_tried_again_as_the_command_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text("jobs: [{command: ['true']}, {command: ['true'], max_attempts: 9}]")
    options = ("--retries", "2", "--retry-wait", "30s", "--dry-run", "--json")

    assert run_command(["submit", str(file), *options]) == 0
    first, second = json.loads(capsys.readouterr().out)["jobs"]
    assert (first["max_attempts"], second["max_attempts"]) == (3, 9)
    assert first["retry"] == second["retry"] == {"policy": "constant", "wait_s": 30}


def test_times_have_a_zone_or_count_from_now() -> None:
    before = datetime.now(UTC)
    given, local, later = (
        datetime.fromisoformat(option_fields(JobOptions(not_before=text))["not_before"])
        for text in ("2027-01-01T02:00:00+05:00", "2027-01-01 02:00", "+1h30m")
    )

    assert given == datetime(2026, 12, 31, 21, tzinfo=UTC)
    assert local == datetime(2027, 1, 1, 2).astimezone()
    assert before <= later - timedelta(hours=1.5) <= datetime.now(UTC)


@cases(
    ("text", "expected"),
    [
        ("18:00", "2026-11-21 18:00"),
        ("9:30", "2026-11-22 09:30"),
        ("12:00", "2026-11-22 12:00"),
        ("2h", "2026-11-21 14:00"),
        ("1h30m", "2026-11-21 13:30"),
    ],
)
def test_clock_times_are_those_of_today_or_tomorrow(text: str, expected: str) -> None:
    now = datetime.fromisoformat("2026-11-21 12:00").astimezone()

    found = datetime.fromisoformat(parse_moment(text, now))
    assert found == datetime.fromisoformat(expected).astimezone()


def test_a_deadline_that_has_passed_is_refused() -> None:
    with pytest.raises(WrongOption, match="--deadline") as refused:
        option_fields(JobOptions(deadline="2026-01-01T00:00:00Z"))

    assert refused.value.detail == "2026-01-01T00:00:00Z has passed."


@pytest.mark.parametrize(
    ("text", "key", "n"), [("db-x", "db-x", 1), ("db-x=2", "db-x", 2), ("a/b=c=3", "a/b=c", 3)]
)
def test_number_of_a_key_comes_last(text: str, key: str, n: int) -> None:
    fields = option_fields(JobOptions(concurrency_key=text, rate=f"{key}={n}/2m"))

    found = {"key": key, "n": n}
    assert fields == {"concurrency_key": found, "rate": {**found, "per_s": 120}}


def test_job_without_network_says_so_in_its_document() -> None:
    assert option_fields(JobOptions(no_network=True)) == {"network": False}
    assert "network" not in option_fields(JobOptions())
    assert option_of("/jobs/0/network", "run") == "--no-network"


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-03-29T01:59", "2026-03-29T00:59"),
        ("2026-03-29T02:30", "2026-03-29T01:30"),  # skipped by the clock: 03:30 there
        ("2026-03-29T03:00", "2026-03-29T01:00"),
        ("2026-10-25T02:30", "2026-10-25T00:30"),  # twice: the first
    ],
)
def test_time_that_the_clock_skips_is_not_an_hour_early(
    text: str, utc: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        found = datetime.fromisoformat(parse_moment(text))
    finally:
        monkeypatch.undo()
        time.tzset()

    assert found == datetime.fromisoformat(f"{utc}:00+00:00")
