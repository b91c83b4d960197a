"""Lifecycles: what is refused, and which ways core moves take."""

import tomllib
from pathlib import Path

import pytest

from cases import cases
from weft.core.deliveries.sinks import target_of
from weft.core.errors import InvalidSetup
from weft.core.lines.lifecycle import Lifecycle
from weft.core.states import JobState, Phase
from weft.core.text.filling import CannotFill
from weft_lines.rules.setup import parse_setup

HRSI = Path(__file__).parents[2] / "examples" / "lifecycles" / "hrsi.toml"

SMALL = """\
[lifecycle.small]
statuses = ["new", "busy", "bad", "over"]
first = ["new"]

[lifecycle.small.next]
new = ["busy", "bad"]
busy = ["over", "bad"]
bad = ["new"]
over = []

[lifecycle.small.core]
new = "ready"
busy = "running"
bad = ["failed", "error"]
over = "success"
"""


def way(of: Lifecycle, state: JobState, start: str | None, phase: int = 0) -> list[str] | None:
    """Return the words of the way from a status; `None`: there is none."""
    (move,) = [one for one in of.moves() if (one.state, one.phase) == (state, phase)]
    found = move.ways[of.statuses.index(start) + 1 if start else 0]
    return None if found is None else [of.statuses[number - 1] for number in found]


def test_core_moves_take_the_shortest_way() -> None:
    hrsi = parse_setup(HRSI.read_text()).lifecycles["hrsi"]
    assert way(hrsi, JobState.PENDING, None) == ["initialized"]
    assert way(hrsi, JobState.READY, None) == ["initialized", "configured", "ready"]
    assert way(hrsi, JobState.RUNNING, "ready", Phase.ASSIGNED) == ["queued", "started"]
    assert way(hrsi, JobState.RUNNING, "started", Phase.EXECUTING) == [
        "pre_processing",
        "processing",
    ]
    assert way(hrsi, JobState.SUCCESS, "processing") == ["post_processing", "processed", "done"]
    assert way(hrsi, JobState.FAILED, "processing") == ["internal_error"]
    assert way(hrsi, JobState.READY, "internal_error") == ["error_checked", "ready"]
    assert way(hrsi, JobState.FAILED, "internal_error") == []
    assert way(hrsi, JobState.READY, "processing") is None  # none leads through an error
    assert way(hrsi, JobState.READY, "cancelled") is None


HTTP = 'kind = "http"\nurl = "https://a.example/"'
SINK = f'[sink.one]\n{HTTP}\nmessage = "1"\n'


@cases(
    ("old", "new", "message"),
    [
        ('"http"', '"smoke"', "there are http, command, s3, amqp, kafka"),
        (HTTP, 'kind = "s3"\nstore = "a"\nkey = "../x"', "a path has no empty part"),
        (HTTP, 'kind = "s3"\nstore = "a"\nkey = "${item.a}"', "it may have ${job.NAME}"),
        (HTTP, 'kind = "s3"\nstore = "${job.name}"', "nothing is filled into it"),
        (HTTP, 'kind = "s3"', "a text of 1 to 255 characters"),
        (HTTP, 'kind = "kafka"\ntransport = "a"\ntopic = ""', "a text of 1 to 255 characters"),
        (HTTP, 'kind = "amqp"\ntransport = "a"\nexchange = "b"\nrejected.codes = 3', "no codes"),
        ("https://a.example/", "ftp://a.example/", "http"),
        ('message = "1"', "", "it should be a template"),
        ('message = "1"', 'message = "1"\nretry = {tries = 0}', "a number from 1 to 1000"),
        ('message = "1"', 'message = "1"\nretry.path = "gone"', "a list of at most 20 statuses"),
        ('message = "1"', 'message = "1"\nretry.policy = "none"', 'should be "exponential"'),
        ('message = "1"', 'message = "1"\nrejected.codes = "x"', "numbers or ranges"),
        ('message = "1"', 'message = "1"\nrejected.codes = "9-1"', "numbers or ranges"),
        ('message = "1"', 'message = "1"\nrejected.code = 1', "a table of tries, path, codes"),
        ('message = "1"', 'message = "1"\ngiven_up.tries = 2', "a table of path"),
        ('message = "1"', 'message = "1"\nheads = "x"', "kind http has no such field"),
        ('message = "1"', 'message = "1"\nheaders = "x"', "a table of at most 50 texts"),
        ('message = "1"', 'each = "../x"', "a path has no empty part"),
        ('message = "1"', 'each = ""', "a pattern of files"),
        ('message = "1"', 'message = "1"\nschema = 3', "a JSON Schema of at most"),
        ('message = "1"', 'message = "1"\nschema = "{"', "truncated"),
        ('message = "1"', 'message = "1"\nschema = {type = "x"}', "is not valid under any"),
        ('message = "1"', 'message = "1"\nschema = {"$ref" = "file:///etc/x"}', "outside of"),
        (HTTP, 'kind = "command"\ncommand = ["/bin/sh"]', "the name of a program"),
        (HTTP, 'kind = "command"\ncommand = "a"\ntimeout = "1h"', 'from "1s" to "300s"'),
    ],
)
def test_sinks_that_make_no_sense_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidSetup) as raised:
        parse_setup(SINK.replace(old, new))
    (error,) = raised.value.errors
    assert message in error.message


def test_target_of_a_message_is_filled_in() -> None:
    text = '[sink.one]\nkind = "{}"\n{}\n'

    def target(kind: str, fields: str, **facts: object) -> dict[str, str]:
        options = parse_setup(text.format(kind, fields)).sinks["one"].options
        return target_of(options, {"id": "b1.j7", **facts})

    store = 'store = "a"\n'
    assert target("s3", store + 'message = "1"')["key"] == "work/jobs/b1.j7/message.json"
    each = target("s3", store + 'each = "p/*.json"', file="p/x.json")
    assert each == {"store": "a", "key": "work/jobs/b1.j7/p/x.json"}
    key = 'products = true\nkey = "${job.attributes.tile}/${product.at:%Y/%m}.json"'
    found = target(
        "s3", store + key, attributes={"tile": "T"}, product='{"at": "2027-04-13T01:00:00Z"}'
    )
    assert found["key"] == "T/2027/04.json"
    rabbit = 'message = "1"\ntransport = "r"\nexchange = "json"\nrouting_key = "x.${job.name}"'
    assert target("amqp", rabbit, name="y")["routing_key"] == "x.y"
    for name in ("..", None, "a\nb"):
        with pytest.raises(CannotFill):
            target("amqp", rabbit, name=name)


def test_lifecycle_is_taken_as_written() -> None:
    parse_setup(SMALL)


@cases(
    ("old", "new", "line", "what"),
    [
        ('busy = ["over", "bad"]', 'busy = ["gone"]', 7, "'gone' is not one of its statuses"),
        ('bad = ["new"]', "bad = []\nover = 3", 0, "Cannot overwrite"),
        ('over = "success"', 'over = "done"', 15, "'done' is not one of pending"),
        ('over = "success"', "over = { a = 1 }", 15, "is not one of pending"),
        ('busy = ["over", "bad"]', 'busy = ["bad"]', 2, 'nothing leads to "over"'),
        ('first = ["new"]', "first = []", 3, "at least one status"),
        ('first = ["new"]', 'first = ["new", 17]', 3, "17 is not one"),
        ('busy = ["over", "bad"]', "busy = []", 2, 'nothing leads to "over"'),
        ('"bad", "over"]', '"bad", "bad"]', 2, '"bad" is there twice'),
        ('first = ["new"]', 'first = ["new"]\nlast = 1', 4, "no such field"),
        ("[lifecycle.small]", "[pool.x]\na = 1\n[lifecycle.small]", 2, "here a pool has no such"),
        ('over = "success"', "", 12, ""),
        ('bad = ["failed", "error"]\nover = "success"\n', "", 0, "it has no end"),
    ],
)
def test_wrong_lifecycle_is_refused_with_its_line(
    old: str, new: str, line: int, what: str
) -> None:
    with pytest.raises(InvalidSetup) as raised:
        parse_setup(SMALL.replace(old, new, 1))
    said = [one.message for one in raised.value.errors]
    assert any(what in one for one in said), said
    if line and what:
        assert any(one.startswith(f"line {line}: ") for one in said), said


def test_two_first_statuses_of_one_state_are_refused() -> None:
    text = SMALL.replace('first = ["new"]', 'first = ["new", "over"]').replace(
        'over = "success"', 'over = ["success", "ready"]'
    )
    with pytest.raises(InvalidSetup, match="could begin as"):
        parse_setup(text)


def test_example_is_the_reference() -> None:
    """Its table, by the numbers of the statuses, as the reference lists it."""
    table = tomllib.loads(HRSI.read_text())["lifecycle"]["hrsi"]["next"]
    assert len(table) == 16
    assert sum(16 if one == "*" else len(one) for one in table.values()) == 65


@cases(
    ("rule", "field", "message"),
    [
        ("", "codes", "it should be an exit code, or a range such as 100-255"),
        ('codes = "300"', "codes", "it should be an exit code"),
        ("codes = []", "codes", "it should be an exit code"),
        ('codes = "3"\nstatus = "gone"', "status", "'gone' is not one of its statuses"),
        ('codes = "3"\nstatus = "over"', "status", "a status of failed, error or blocked"),
        ('codes = "0"\nstatus = "bad"', "status", "exit code 0 is a success"),
        ('codes = "3"\nstatus = "bad"\ntries = 0', "tries", "a number from 1 to 1000"),
        ('codes = "3"\nstatus = "bad"\nproducts = true', "products", "a failure has none"),
        ('codes = "3"\nsubtype = ""', "subtype", "1 to 60 characters"),
        ('codes = "3"\nstate = "bad"', "state", "a rule has no such field"),
        ('codes = "3"\n[[lifecycle.small.exit]]\ncodes = "1-5"', "exit", "two rules"),
    ],
)
def test_exit_rules_that_make_no_sense_are_refused(rule: str, field: str, message: str) -> None:
    with pytest.raises(InvalidSetup) as raised:
        parse_setup(f"{SMALL}\n[[lifecycle.small.exit]]\n{rule}\n")
    (error,) = raised.value.errors
    assert error.pointer.endswith(f"/{field}")
    assert message in error.message


LIMITS = """
[lifecycle.x]
statuses = ["a", "b", "c"]
first = ["a"]
on_limit = {path = ["c", "a"], rounds = 2}
lost = {after = "5m"}
next = {a = ["b", "c"], b = ["c"], c = ["a"]}
core = {a = "ready", b = "running", c = ["failed", "error"]}
phase = {preparing = "b", executing = "c"}
limits = {a = "60m", b = "30m"}
"""


def test_limit_of_a_status_is_that_of_the_phases_that_bring_it() -> None:
    found = parse_setup(LIMITS).lifecycles["x"]
    assert found.limits.document(found.phases) == {
        "monitor": {
            "action": "requeue",
            "rounds": 2,
            "silent_s": 300,
            "preparing_s": 1800,
            "staging_inputs_s": 1800,
            "submitting_s": 1800,
            "queued_remote_s": 1800,
        },
        "statuses": {"1": 3600, "2": 1800},
        "on_limit": {"path": ["c", "a"], "subtype": "time limit", "rounds": 2},
        "lost": {"path": [], "subtype": "lost", "rounds": 3},
    }


@cases(
    ("old", "new", "message"),
    [
        ('limits = {a = "60m"', 'limits = {z = "60m"', "not one of its statuses"),
        ('limits = {a = "60m"', 'limits = {a = "0s"', 'a time such as "30m"'),
        ('limits = {a = "60m", b = "30m"}', "limits = 3", "it should be a table"),
        ('path = ["c", "a"]', 'path = ["z"]', "a list of at most 20 of its statuses"),
        ('path = ["c", "a"]', 'path = ["a", "a"]', 'its path goes from "a" to "a"'),
        ("rounds = 2", "rounds = -1", "a number from 0 to 1000"),
        ("rounds = 2", "tries = 2", "a table of path, subtype, rounds"),
        ("rounds = 2", 'subtype = ""', "1 to 64 characters"),
        ('after = "5m"', "after = 5", 'a time such as "5m"'),
    ],
)
def test_limits_that_make_no_sense_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidSetup) as raised:
        parse_setup(LIMITS.replace(old, new))
    assert any(message in one.message for one in raised.value.errors), raised.value.errors


def test_lifecycle_without_limits_has_nothing_to_watch() -> None:
    text = "\n".join(
        line for line in LIMITS.splitlines() if not line.startswith(("limits", "on_limit", "lost"))
    )
    found = parse_setup(text).lifecycles["x"]
    assert found.limits.document(found.phases) is None
