"""SQL says states, phases and reasons by name, and PostgreSQL gets their numbers."""

import re

import pytest

from weft.sql import files_of
from weft.sql.names import with_numbers

_BARE_NUMBER = re.compile(
    r"\b(?:\w+_)?(?:state|reason|phase)\b\s*"
    r"(?:=|<>|<=|>=|<|>|IS (?:NOT )?DISTINCT FROM|(?:NOT )?IN \(|(?:NOT )?BETWEEN)\s*\d"
)


def test_names_become_numbers() -> None:
    assert with_numbers("state < STATE_SUCCESS") == "state < 6/*SUCCESS*/"
    assert with_numbers("reason = REASON_LOST") == "reason = 11/*LOST*/"
    assert with_numbers("x - WALLTIME_MARGIN_S") == "x - 180/*WALLTIME_MARGIN_S*/"
    assert with_numbers("A_STATE_LOST A_WALLTIME_MARGIN_S") == "A_STATE_LOST A_WALLTIME_MARGIN_S"


def test_a_name_that_is_none_is_an_error() -> None:
    with pytest.raises(KeyError, match="RUNING"):
        with_numbers("state = STATE_RUNING")


def test_no_sql_compares_with_a_bare_number() -> None:
    found = [
        f"{folder}/{file.name}:{number}"
        for folder in ("functions", "views", "audit")
        for file in files_of(folder)
        for number, line in enumerate(file.source.splitlines(), 1)
        if _BARE_NUMBER.search(line)
    ]

    assert found == []
