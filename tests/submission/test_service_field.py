"""The field `service` of jobs, from the document to what workers and the database read."""

from typing import Any

from cases import cases
from submission.test_simulation_field import wrong
from submission.test_translate import rows_of
from weft.core.ends.retry_policy import wait_s
from weft.core.states import Reason
from weft.wire.spec import SERVICE, decode_chunk

PROXY: dict[str, Any] = {"name": "proxy", "command": ["proxy"]}
HEALTH = {"http": "http://127.0.0.1:8080/"}


def test_service_waits_longer_each_time_and_never_gives_up() -> None:
    rows = rows_of([{**PROXY, "service": {"first_s": 1, "longest_s": 5}}, {"command": ["true"]}])
    (spec, other) = [spec for body in rows.chunk_body for spec in decode_chunk(body)]
    assert spec.service is not None
    assert (spec.requires, other.requires) == ((SERVICE,), ())
    assert [*rows.max_attempts] == [32_000, 1]
    (kept,) = rows.rare_fields
    assert kept["service"] == {"first_s": 1.0, "longest_s": 5.0}
    assert kept["retry"]["forgets_s"] == 5
    waits = [wait_s(kept["retry"], n, waited_s=1e9) for n in (1, 2, 3, 4, 1000)]
    assert waits == [1, 2, 4, 5, 5]
    assert kept["end_rules"] == {"external": [[1, 255]]}
    assert rows.retry_on[0] & (1 << Reason.LOST)


@cases(
    ("change", "pointer", "what"),
    [
        ({"name": None}, "/service", "needs a `name`"),
        ({"command": None}, "/service", "needs a `command` or `script`"),
        ({"command": None, "script": "#!/bin/perl"}, "/script", "run by sh"),
        ({"command": None, "function": {"call": "math:gcd"}}, "/function", "not allowed"),
        ({"count": 3}, "/count", "not allowed beside"),
        ({"values": ["a"]}, "/values", "not allowed beside"),
        ({"outputs": [{"from": "x"}]}, "/outputs", "not allowed beside"),
        ({"max_attempts": 3}, "/max_attempts", "not allowed in a service"),
        ({"retry_on": ["oom"]}, "/retry_on", "not allowed beside"),
        ({"exit_codes": {"3": "success"}}, "/exit_codes", "not allowed beside"),
        ({"deadline": "2050-01-01T00:00:00Z"}, "/deadline", "not allowed beside"),
        ({"container": {"image": "docker://x/y:1"}}, "/container", "not allowed beside"),
        ({"service": {"first_s": 9, "longest_s": 3}}, "/service/first_s", "to longest_s"),
        ({"service": {"health": {}}}, "/service/health", "one of `command` and `http`"),
        ({"service": {"health": {**HEALTH, "command": ["a"]}}}, "/service/health", "one of"),
        ({"service": {"health": {"http": "ftp://a/"}}}, "/service/health/http", "an address"),
        ({"service": {"health": {**HEALTH, "every_s": 0}}}, "/service/health/every_s", "0.1"),
        ({"service": {"health": {**HEALTH, "failures": 0}}}, "/service/health/failures", "1000"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any], pointer: str, what: str) -> None:
    document = {**PROXY, "service": {}, **change}
    said = wrong({name: one for name, one in document.items() if one is not None})
    assert what in said[f"/jobs/0{pointer}"]


def test_nothing_waits_for_a_service_and_names_are_of_one() -> None:
    service = {**PROXY, "service": {}}
    after = {"command": ["true"], "parents": [1]}
    assert "does not end" in wrong(service, after)["/jobs/1/parents"]
    assert "two services" in wrong(service, service)["/jobs/1/name"]
    rows_of([{"command": ["true"]}, {**service, "parents": [1]}])
