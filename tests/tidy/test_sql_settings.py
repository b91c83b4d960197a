"""SQL says settings by name, and PostgreSQL gets where the leading driver put them."""

import re

import pytest

from weft.settings import sql_settings
from weft.sql import files_of
from weft.sql.settings import with_settings


def test_name_becomes_a_look_at_what_the_leader_handed_over() -> None:
    assert with_settings("n > SETTING_LOSSES_MAX") == (
        "n > (SELECT coalesce((d.settings ->> 'losses_max')::int, 5) FROM weft.driver_state d)"
    )


def test_name_that_is_no_setting_for_sql_is_an_error() -> None:
    with pytest.raises(KeyError, match="drivers"):
        with_settings("n > SETTING_DRIVERS")


def test_each_setting_for_sql_is_read_there() -> None:
    read = {
        name.lower()
        for file in files_of("functions")
        for name in re.findall(r"\bSETTING_([A-Z_]+)\b", file.source)
    }

    assert read == set(sql_settings())
