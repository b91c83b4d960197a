"""Databases of setups: addresses, statements, and what is wrong with them, with its line."""

import pytest

from cases import cases
from weft.core.errors import InvalidSetup
from weft.extensions.lines.rules.logins import logins_of
from weft.extensions.lines.rules.setup import parse_setup
from weft.extensions.lines.rules.sql import parse_database_url, parse_statement

SETUP = """\
[source.s]
kind = "sql"
url = "postgresql://ann:${secret.DB}@db.example/archive"
query = "SELECT id AS key FROM scene WHERE tile = :tile AND id > :cursor"
values = { tile = "${param.tile}" }
cursor = { field = "key", first = "7" }
job = "one"
sink = "t"

[sink.t]
kind = "sql"
url = "postgresql://ann:${secret.DB}@db.example:6432/archive?sslmode=require"
statement = "INSERT INTO product VALUES (:delivery, :tile)"
message = "1"
rejected = { codes = "23", path = ["failed"] }

[configure.one.let.site]
plugin = "sql"
url = "postgresql://ann:${secret.DB}@db.example/archive"
query = "SELECT height FROM site WHERE tile = :tile"
values = { tile = "${item.tile}" }

[job.one]
command = ["true"]
"""


def test_setup_is_taken_as_written() -> None:
    setup = parse_setup(SETUP.replace("cursor = {", "cursor = { overlap = 1000,"))
    assert setup.sources["s"].options["values"] == {"tile": "${param.tile}"}
    assert setup.sinks["t"].options == {
        "statement": "INSERT INTO product VALUES (:delivery, :tile)"
    }
    assert setup.sinks["t"].rejected == ((23, 23),)
    written = parse_setup(SETUP.replace("${secret.DB}", "canary", 2))
    assert [one.value for one in logins_of("x", written)] == ["ann:canary"] * 2


@cases(
    ("old", "new", "line", "what"),
    [
        ("query = ", "ask = ", 1, "at most 20000 characters"),
        ("= :tile AND", "= :tiles AND", 4, ":tiles is not known here; it knows :cursor, :tile"),
        ("= :tile AND", "= '${param.tile}' AND", 4, "nothing is filled into SQL"),
        ("= :tile AND", "= 'T AND", 4, "line 1 of it: ' has no end"),
        ("= :tile AND", "= $1 AND", 4, "should be a name such as :tile"),
        ("cursor = {", "cursor = { parameter = 'x',", 6, "names it as :cursor"),
        ("cursor = {", "cursor = { overlap = -1,", 6, "or of numbers one from 0 to"),
        ("cursor = {", "cursor = { overlap = true,", 6, 'a time such as "1h"'),
        ("values = {", "values = { cursor = 1,", 5, "what the source has read last"),
        ("values = {", "values = { 'a b' = 1,", 5, "a table of at most 50"),
        ("db.example/archive", "db.example/", 3, "it names no database"),
        ("db.example/archive", "db.example/a?user=b", 3, "may say sslmode, not user"),
        ("ann:${secret.DB}@", "", 3, "it names no user"),
        ("postgresql://ann", "mysql://ann", 3, "not an address such as postgresql://"),
        ("db.example/archive", "${secret.DB}/archive", 3, "its host is no secret"),
        ("db.example/archive", "db.example/${secret.DB}", 3, "in its login only"),
        ("${secret.DB}", "${param.DB}", 3, "only ${secret.NAME} is filled into it"),
        ("FROM scene", "FROM scene ${secret.DB}", 4, "in `url` of the kind sql, only"),
        ("statement =", "key =", 13, "no such field"),
        ("(:delivery,", "('${job.id}',", 13, "nothing is filled into SQL"),
        ('codes = "23"', 'codes = "23505"', 15, "numbers or ranges"),
        ('= :tile"', "= '${item.tile}'\"", 20, "nothing is filled into SQL"),
        ("${item.tile}", "${job.tile}", 21, "${job.tile} is not known here"),
        ("\n\n[job.one]", "\nheaders = {}\n\n[job.one]", 22, "by sql has no such field"),
    ],
)
def test_wrong_setup_is_refused_with_its_line(old: str, new: str, line: int, what: str) -> None:
    assert old in SETUP
    with pytest.raises(InvalidSetup) as raised:
        parse_setup(SETUP.replace(old, new, 1))
    said = [one.message for one in raised.value.errors]
    assert any(what in one for one in said), said
    assert any(one.startswith(f"line {line}: ") for one in said), said


def test_look_up_has_no_login_of_its_own() -> None:
    text = SETUP.rpartition("${secret.DB}")
    with pytest.raises(InvalidSetup, match=r"line 19: write its password as \$\{secret.NAME\}"):
        parse_setup(f"{text[0]}canary{text[2]}")


def test_names_stand_for_values() -> None:
    """Nothing that only looks like one is changed."""
    text = """SELECT 'a:b', "c:d", E'\\':e', $x$ :f $x$, g::text -- :h
        /* :i */ FROM k WHERE l = :m AND n = :o AND p = :m;"""
    found = parse_statement(text)
    assert found.names == ("m", "o")
    changed = text.replace(":m", "$1").replace(":o", "$2").removesuffix(";")
    assert found.text == changed


def test_addresses() -> None:
    one = parse_database_url("postgres://a%40b:p%3A%2F@DB.example:6432/arch%20ive?sslmode=disable")
    assert (one.host, one.port, one.user, one.password, one.database, one.tls) == (
        "db.example", 6432, "a@b", "p:/", "arch ive", "disable"
    )  # fmt: skip
    assert "p:/" not in repr(one)
    other = parse_database_url("postgresql://ann@[::1]/x")
    assert (other.host, other.port, other.password, other.tls) == ("::1", 5432, "", "verify-full")
