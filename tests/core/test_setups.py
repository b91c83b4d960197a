"""Setups: what is wrong with a source, a template or a database is told with its line."""

import pytest

from cases import cases
from weft.core.errors import InvalidSetup
from weft.core.text.filling import CannotFill, filled, map_texts
from weft_lines.rules.logins import (
    logins_of,
    owned_by,
    still_told,
    value_of,
    without_logins,
)
from weft_lines.rules.setup import parse_setup
from weft_lines.rules.sql import parse_database_url, parse_statement

SETUP = """\
[source.scenes]
kind = "directory"
path = "/data/in"
job = "snow"
every = "10s"

[job.snow]
command = ["true"]
"""
EACHES = """
[sink.a]
kind = "http"
url = "https://a.example/"
message = "1"
each = "a/*.json"
[sink.b]
kind = "http"
url = "https://b.example/"
message = "1"
each = "b/*.json"
"""


def test_source_is_taken_as_written() -> None:
    source = parse_setup(SETUP).sources["scenes"]
    assert (source.kind, source.every.total_seconds(), source.options) == (
        "directory",
        10,
        {"path": "/data/in"},
    )


@cases(
    ("old", "new", "line", "what"),
    [
        ('path = "/data/in"', 'path = "in"', 3, "absolute path"),
        ('path = "/data/in"', "", 1, "kind directory needs it"),
        ('path = "/data/in"', 'path = "/data/in"\nurl = "x"', 4, "no such field"),
        ('kind = "directory"', 'kind = "amqp"', 1, "kind amqp needs it"),
        ('kind = "directory"', 'kind = "kafka"\nfirst = 3', 3, '"earliest" or "latest"'),
        ('job = "snow"', 'job = "ice"', 4, "there is no [job.ice]"),
        ('job = "snow"', "", 1, "a source needs it"),
        ('every = "10s"', 'every = "10"', 5, 'from "1s" to "1d"'),
        ('every = "10s"', 'every = "999999999w"', 5, 'from "1s" to "1d"'),
        ('every = "10s"', 'every = "1ms"', 5, 'from "1s" to "1d"'),
        ('kind = "directory"', 'kind = "a b"', 2, "a word such as directory"),
        ('kind = "directory"', "kind = 3", 2, "it should be a text"),
        ('command = ["true"]', 'count = 3\ncommand = ["true"]', 8, "an item is one job"),
        ("[source.scenes]", '[source."a b"]', 1, "a name is a word"),
        ("[job.snow]", "[nothing.snow]", 7, "no such part"),
        ("[job.snow]", '[pool.medium]\nmax = "3"\n[job.snow]', 8, "it should be a number"),
        ("[job.snow]", "[pool.medium]\ncordon = 3\n[job.snow]", 8, "here a pool has no such"),
        ("[job.snow]", '[pool.a]\nstale_after = "15"\n[job.snow]', 8, 'a time such as "15m"'),
        ("[job.snow]", '[pool.a.template]\nimage = "x"\n[job.snow]', 8, "${server.id:.8}"),
        ("[job.snow]", "[queue.x]\npools = []\n[job.snow]", 8, "a list of 1 to"),
        ("[job.snow]", "[queue.x]\nmax_running = 3\n[job.snow]", 8, "`weft queue apply FILE`"),
        ('command = ["true"]', 'inputs = ["${item.path}"]', 8, "write store://NAME/ before it"),
        ('command = ["true"]', 'inputs = ["weft://b${item.n}.j1/x"]', 8, "before it"),
        ('command = ["true"]', 'outputs = { "x" = "store:/${item.a}" }', 8, "before it"),
        ('command = ["true"]', 'container = { image = "${param.a}" }', 8, "docker:// before"),
        ("[job.snow]", '[sink.a]\nkind = "amqp"\nexchange.kind = 1\n[job.snow]', 9, "no kind"),
        ('command = ["true"]', 'image = "docker://x/${item.a}"', 8, "it may have ${param.NAME}"),
        ('command = ["true"]', 'outputs = { "x" = "y/${item.at:%s}" }', 8, "a date such as"),
        ('command = ["true"]', "env = 5", 8, "it should be a table"),
        ('command = ["true"]', 'resources = "x"', 8, "it should be a table"),
        ('command = ["true"]', 'sink = ["a", "b", "a"]', 8, "it names a twice"),
        ('command = ["true"]', "sink = []", 8, "or a list of 1 to 8 of them"),
        ('job = "snow"', 'job = "snow"\nsink = ["x", "y"]', 5, "there is no [sink.y]"),
        ('command = ["true"]', f'command = ["true"]\nsink = ["a", "x"]{EACHES}', 9, "[sink.x]"),
        ('command = ["true"]', f'sink = ["a", "b"]{EACHES}', 8, "should have the same"),
        ("[job.snow]", "[sink.a]\nkind = []\n[job.snow]", 8, "there is no kind of sink '[]'"),
        ("[job.snow]", '[sink.a]\nplugin = "pigeon"\n[job.snow]', 7, 'kind = "command"'),
        ("[job.snow]", '[sink.a]\nkind = "http"\nmessage = "{{ a"\n[job.snow]', 9, "template"),
        ("[job.snow]", '[sink.a]\nkind = "http"\nmessage = "{{ a }}"\n[job.snow]', 9, "and no a"),
    ],
)
def test_wrong_setup_is_refused_with_its_line(old: str, new: str, line: int, what: str) -> None:
    with pytest.raises(InvalidSetup) as raised:
        parse_setup(SETUP.replace(old, new, 1))
    said = [one.message for one in raised.value.errors]
    assert any(what in one for one in said), said
    assert any(one.startswith(f"line {line}: ") for one in said), said


@cases(
    ("line", "what"),
    [
        ('url = "https://x.example/"\nitems = "${secret.K}"', "`headers` and `query`"),
        ('url = "https://${secret.K}/"', "its host is no secret"),
        ('url = "https://${secret.K}.example/"', "its host is no secret"),
        ('url = "https://ann:a${secret.K}@x.example/"', "all of the password"),
        ('url = "https://${secret.K}:a@x.example/"', "all of the password"),
        ('url = "https://@x.example/"', "its login is empty"),
        ('url = "https://x.example/${env.K}"', "only ${secret.NAME} is filled into it"),
        ('url = "https://x.example/"\nheaders = { Host = "y" }', "no header that may be given"),
        ('url = "https://x.example/"\nheaders = { A = "${env.B}" }', "only ${secret.NAME}"),
        ('url = "https://x.example/"\nheaders = { A = 1 }', "A: it should be a text"),
        ('url = "https://x.example/?token=a&token=${secret.K}"', "token is a credential: write"),
        ('url = "https://x.example/"\nquery = { api_key = "a" }', "api_key is a credential"),
        ('url = "https://x.example/"\nheaders = { X-Auth-Token = "a" }', "is a credential"),
        (
            'url = "https://x.example/"\nheaders = { Authorization = "Bearer a" }',
            "Authorization is a credential: write ${secret.NAME}, a secret of the owner",
        ),
    ],
)
def test_secrets_stand_where_nobody_sees_them(line: str, what: str) -> None:
    text = f"""
[source.s]
kind = "http"
job = "one"
{line}
[job.one]
command = ["true"]
"""
    with pytest.raises(InvalidSetup) as failure:
        parse_setup(text)
    assert what in str(failure.value)


@pytest.mark.parametrize("field", ['message = "${secret.K}"', 'order = "${secret.K}"'])
def test_secrets_of_sinks_stand_in_address_and_headers(field: str) -> None:
    sink = """
[sink.s]
kind = "http"
url = "https://ann:${secret.K}@x.example/${secret.L}?token=${secret.M}"
headers = { Authorization = "Bearer ${secret.K}" }
"""
    assert parse_setup(f"{sink}message = '1'").sinks["s"].headers
    more = "" if "message" in field else "message = '1'\n"
    with pytest.raises(InvalidSetup, match="`url` and `headers` of the kind http, and in"):
        parse_setup(f"{sink}{more}{field}")
    with pytest.raises(InvalidSetup, match="line 4: sig is a credential"):
        parse_setup(f"{sink}message = '1'".replace("token=${secret.M}", "sig=abc"))


def test_logins_in_addresses_become_secrets() -> None:
    """Each of its part, also of one name; what is longer than a name is made short."""
    line = """
[source.a]
kind = "http"
url = "https://ann:p%40ss@x.example/items"
job = "one"
[sink.a]
kind = "http"
url = "https://token@x.example/"
message = "1"
[sink.b]
kind = "http"
url = "https://ann:${secret.K}@x.example/"
message = "1"
[job.one]
command = ["true"]
"""
    found = logins_of("s", parse_setup(line))
    assert [(one.secret, value_of(one)) for one in found] == [
        ("s.source.a", "ann:p@ss"),
        ("s.sink.a", "token"),
    ]
    named = without_logins(line, found)
    again = parse_setup(named)
    assert logins_of("s", again) == []
    assert again.sources["a"].options["url"] == "https://${secret.s.source.a}@x.example/items"
    assert again.sinks["a"].url == "https://${secret.s.sink.a}@x.example/"
    owned = owned_by(again, "bob", found)
    assert (owned.sources["a"].owner, owned.own_sinks) == ("bob", frozenset({"a"}))
    assert still_told(line, found) == []
    assert still_told(f"# p%40ss\n{line}", found) == [found[0]]
    assert still_told(f"x = '{found[1].url}'\n{line}", found) == [found[1]]
    assert len(logins_of("x" * 63, parse_setup(line))[0].secret) <= 63


def test_other_forms_are_taken() -> None:
    """As the proposal of the reference writes them: `plugin`, files as texts, the sink of a job,
    the words of a queue.
    """
    found = parse_setup(
        SETUP.replace("kind", "plugin")
        + """
image = "docker://x/y:${param.version}"
inputs = ["store://eodata/${item.path}"]
outputs = { "products/*" = "store://hrsi/${item.type}/${item.measured:%Y/%m/%d}/" }
queue = "production"
sink = ["portal", "wekeo"]
[configure.snow]
priority = "'nrt'"
[queue.production]
priorities = ["nrt", "delayed"]
[sink.portal]
plugin = "http"
url = "http://a.example/"
message = "{}"
[sink.wekeo]
plugin = "amqp"
transport = "endpoint"
exchange = { name = "product_publication", type = "direct", durable = true }
each = "products"
"""
    )
    assert found.sources["scenes"].kind == "directory"
    assert found.sources["scenes"].sinks == ("portal", "wekeo")
    assert (found.sinks["wekeo"].each, found.sinks["wekeo"].options["exchange"]) == (
        "products/*.json",
        "product_publication",
    )
    assert found.configurations["snow"]["priorities"] == ["nrt", "delayed"]
    job = found.jobs["snow"]
    assert job["container"] == {"image": "docker://x/y:${param.version}"}
    assert "sink" not in job
    item = {"path": "S2/a.zip", "type": "FSC", "measured": "2021-04-13T10:13:47Z"}
    values = {"item": item, "param": {"version": "1.0"}}
    assert map_texts(job, lambda text: filled(text, lambda root, name: values[root][name])) == {
        "inputs": [{"from": "store://eodata/S2/a.zip"}],
        "outputs": [{"from": "products/*", "to": "store://hrsi/FSC/2021/04/13/", "strip": True}],
        "container": {"image": "docker://x/y:1.0"},
    }


@cases("value", ["../x", "a/../../b", "", "a\nb", "${param.x}", True, None, []])
def test_what_an_item_says_stays_below_its_address(value: object) -> None:
    with pytest.raises(CannotFill):
        filled("store://a/${item.x}", lambda _root, _name: value)


@cases(
    ("text", "what"),
    [
        ("", "it is empty"),
        ("a = " + "[" * 5000, "nested more than"),
        ("a = " + "9" * 5000, "integer string"),
        ("[[[", "Invalid initial character"),
    ],
)
def test_what_is_no_setup_is_refused(text: str, what: str) -> None:
    with pytest.raises(InvalidSetup, match=what):
        parse_setup(text)


SQL_SETUP = """\
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
    setup = parse_setup(SQL_SETUP.replace("cursor = {", "cursor = { overlap = 1000,"))
    assert setup.sources["s"].options["values"] == {"tile": "${param.tile}"}
    assert setup.sinks["t"].options == {
        "statement": "INSERT INTO product VALUES (:delivery, :tile)"
    }
    assert setup.sinks["t"].rejected == ((23, 23),)
    written = parse_setup(SQL_SETUP.replace("${secret.DB}", "canary", 2))
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
def test_wrong_database_is_refused_with_its_line(old: str, new: str, line: int, what: str) -> None:
    assert old in SQL_SETUP
    with pytest.raises(InvalidSetup) as raised:
        parse_setup(SQL_SETUP.replace(old, new, 1))
    said = [one.message for one in raised.value.errors]
    assert any(what in one for one in said), said
    assert any(one.startswith(f"line {line}: ") for one in said), said


def test_look_up_has_no_login_of_its_own() -> None:
    text = SQL_SETUP.rpartition("${secret.DB}")
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
        "db.example",
        6432,
        "a@b",
        "p:/",
        "arch ive",
        "disable",
    )
    assert "p:/" not in repr(one)
    other = parse_database_url("postgresql://ann@[::1]/x")
    assert (other.host, other.port, other.password, other.tls) == ("::1", 5432, "", "verify-full")


def test_refusal_is_one_without_being_named() -> None:
    usual = parse_setup(SQL_SETUP.replace('rejected = { codes = "23", path = ["failed"] }', ""))

    assert usual.sinks["t"].rejected == ((22, 23),)
