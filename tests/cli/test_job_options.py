"""Options of a job with impossible values: the message names the option."""

from typing import Any

import pytest

from weft.cli.input.job_document import JobOptions, WrongOption, option_fields


@pytest.mark.parametrize(
    ("option", "text", "reason"),
    [
        ("memory", "1000", "has no unit"),
        ("memory", "0", "no memory"),
        ("memory", "-4Gi", "negative"),
        ("cpu", "0", "no cores"),
        ("cpu", "two", "such as 2, 0.25 or 250m"),
        ("timeout", "0", "no time"),
        ("timeout", "soon", "such as 90, 10m"),
    ],
)
def test_wrong_value_is_refused_with_the_name_of_its_option(
    option: str, text: str, reason: str
) -> None:
    values: dict[str, Any] = {option: text}
    with pytest.raises(WrongOption, match=f"--{option}") as refused:
        option_fields(JobOptions(**values))

    assert refused.value.code == "CLI.WRONG_OPTION"
    assert reason in refused.value.detail


def test_units_are_those_that_people_write() -> None:
    fields = option_fields(JobOptions(cpu="250m", memory="4gi", timeout="1h30m"))

    assert fields == {"resources": {"cpu": "250m", "memory": "4gi"}, "timeout_s": 5400}
