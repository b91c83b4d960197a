"""SQL says settings by name, and PostgreSQL gets where the leading driver put them."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from weft.settings import Bytes, declared_in, setting, sql_settings
from weft.sql import files_of
from weft.sql.names import reading_of, with_settings


def test_name_becomes_a_look_at_what_the_leader_handed_over() -> None:
    assert with_settings("n > SETTING_LOSSES_MAX") == (
        "n > (SELECT coalesce((d.settings ->> 'losses_max')::int, 5) FROM weft.driver_state d)"
    )


def test_name_that_is_no_setting_for_sql_is_an_error() -> None:
    with pytest.raises(KeyError, match="drivers"):
        with_settings("n > SETTING_DRIVERS")


@dataclass(frozen=True)
class Section:
    name: str = setting("it's", "A text.", in_sql=True)
    nothing: str | None = setting(None, "No text.", in_sql=True)
    share: float | None = setting(None, "No number.", in_sql=True)
    flag: bool = setting(default=False, help_="A flag.", in_sql=True)
    place: Path = setting(Path("/a b"), "A path.", in_sql=True)
    size: Bytes | None = setting(None, "A size.", in_sql=True)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("name", "(d.settings ->> 'name')::text, E'it''s'"),
        ("nothing", "(d.settings ->> 'nothing')::text, NULL"),
        ("share", "(d.settings ->> 'share')::float8, NULL"),
        ("flag", "(d.settings ->> 'flag')::boolean, False"),
        ("place", "(d.settings ->> 'place')::text, E'/a b'"),
        ("size", "(d.settings ->> 'size')::bigint, NULL"),
    ],
)
def test_type_and_default_are_those_of_the_declaration(name: str, read: str) -> None:
    (one,) = (found for found in declared_in(Section) if found.name == name)

    assert reading_of(one) == f"(SELECT coalesce({read}) FROM weft.driver_state d)"  # noqa: S608 (run nowhere)


def test_each_setting_for_sql_is_read_there() -> None:
    read = {
        name.lower()
        for file in files_of("functions")
        for name in re.findall(r"\bSETTING_([A-Z_]+)\b", file.source)
    }

    assert read == set(sql_settings())
