"""The fields `service`, `network` and `simulation` of jobs, from the document to what the database
reads.
"""

from typing import Any

import msgspec
import pytest

from cases import cases
from submission.test_translate import rows_of
from weft.core.ends.retry_policy import wait_s
from weft.core.errors import InvalidDocument
from weft.core.states import Reason
from weft.ports.store import Shape
from weft.submission.translation.cache import LEFT_OUT, key_of
from weft.submission.translation.functions import shown_spec
from weft.wire.documents.apps import CodeDocument, RequirementsDocument
from weft.wire.documents.containers import ContainerDocument
from weft.wire.documents.engines import EngineOptions
from weft.wire.documents.files import FileInput, FileOutput
from weft.wire.documents.secrets import SecretUse
from weft.wire.documents.simulations import SimulationDocument
from weft.wire.spec import (
    NO_NETWORK,
    SECRETS,
    SERVICE,
    AppSpec,
    FunctionSpec,
    JobSpec,
    decode_chunk,
)

COMMAND: dict[str, Any] = {"command": ["true"]}
PROXY: dict[str, Any] = {"name": "proxy", "command": ["proxy"]}
HEALTH = {"http": "http://127.0.0.1:8080/"}
SLEEP: dict[str, Any] = {"action": "SLEEP", "durationMs": 1000}


def simulated(*steps: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"simulation": {"steps": steps}, **more}


def wrong(*documents: dict[str, Any]) -> dict[str, str]:
    """Return what is said of these documents, by pointer."""
    with pytest.raises(InvalidDocument) as refused:
        rows_of(list(documents))
    return {error.pointer: error.message for error in refused.value.errors}


def test_only_workers_of_simulations_run_it() -> None:
    """It takes a slot of them, and nothing of a host."""
    rows = rows_of([{"command": ["true"]}, simulated(SLEEP), simulated(count=3)])
    specs = [spec for body in rows.chunk_body for spec in decode_chunk(body)]

    assert [one.executor for one in specs] == ["process", *["simulation"] * 4]
    assert [rows.shapes[index] for index in rows.shape_index[1:]] == [
        Shape(cpu_m=1, memory_mib=0, words=(("executor", "simulation"),))
    ] * 2
    assert specs[1].simulation is not None
    assert [step.__class__.__name__ for step in specs[1].simulation.steps] == ["Sleep"]


def test_what_is_of_a_process_is_refused_beside_it() -> None:
    more = {"command": ["true"], "env": {"A": "1"}, "resources": {"cpu": 1}, "executor": "process"}
    beside = {"/jobs/0/command", "/jobs/0/env", "/jobs/0/resources", "/jobs/0/executor"}

    assert wrong(simulated(SLEEP, **more)).keys() == beside
    assert wrong({"executor": "simulation"}).keys() == {"/jobs/0/simulation"}


def test_every_step_beyond_a_limit_is_named() -> None:
    said = wrong(
        simulated(
            {"action": "SLEEP", "durationMs": -1},
            {"action": "HTTP_CALL", "latencyMs": 3_600_001},
            {"action": "COMPUTE", "iterations": 10**30},
            {"action": "FAIL", "message": "\0"},
            {"action": "LOG", "message": "x" * 70_000},
        ),
        simulated(*[SLEEP] * 1001),
    )

    assert said == {
        "/jobs/0/simulation/steps/0/durationMs": "expected at least 0",
        "/jobs/0/simulation/steps/1/latencyMs": "expected at most 3600000 (simulation_step_s_max)",
        "/jobs/0/simulation/steps/2/iterations": (
            "expected at most 2147483647 (simulation_iterations_max)"
        ),
        "/jobs/0/simulation/steps/3/message": "a text cannot contain NUL",
        "/jobs/0/simulation/steps/4/message": (
            "70000 bytes, at most 65536 (simulation_text_bytes_max)"
        ),
        "/jobs/1/simulation/steps": "1001 steps, at most 1000 (simulation_steps_max)",
    }


def test_all_steps_together_have_limits() -> None:
    hour = {"action": "SLEEP", "durationMs": 3_600_000}
    half = {"action": "COMPUTE", "iterations": 1_100_000_000}

    assert wrong(simulated(*[hour] * 25), simulated(half, half)) == {
        "/jobs/0/simulation/steps": (
            "they take 90000000 ms, at most 86400000 (simulation_job_s_max)"
        ),
        "/jobs/1/simulation/steps": (
            "2200000000 iterations, at most 2147483647 (simulation_iterations_max)"
        ),
    }


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


def test_job_without_a_network_requires_a_runner_that_knows_of_it() -> None:
    secret: dict[str, Any] = {"secrets": [{"name": "db", "env": "DB"}]}
    forbid: dict[str, Any] = {"network": False}
    documents = [
        {**COMMAND, **forbid},
        COMMAND,
        {**COMMAND, "network": True},
        {**COMMAND, **forbid, **secret},
        {**COMMAND, **forbid, "values": ["a", "b"]},
    ]
    specs = [spec for body in rows_of(documents).chunk_body for spec in decode_chunk(body)]
    own = {NO_NETWORK}

    assert [set(one.requires) for one in specs] == [own, set(), set(), {SECRETS} | own, own, own]
    assert {one.executor for one in specs} == {"process"}
    assert [one.network for one in specs] == [False, None, True, *[False] * 3]


def test_spec_is_shown_without_what_it_requires() -> None:
    spec = JobSpec(("true",), network=False, requires=(NO_NETWORK, SECRETS))
    shown = shown_spec(spec, 1, ())

    assert isinstance(shown, JobSpec)
    assert (shown.requires, shown.network) == ((), False)


def test_call_of_a_function_cannot_forbid_the_network() -> None:
    told = wrong(COMMAND, {"function": {"call": "math:gcd"}, "network": False})
    assert [*told] == ["/jobs/1/network"]
    assert "share processes" in told["/jobs/1/network"]


SUM, OTHER_SUM = ("sha256:" + digit * 64 for digit in "01")
FIELDS: dict[str, Any] = {
    "command": ("a",),
    "script": "a",
    "env": {"A": "1"},
    "cwd": "/a",
    "stdin": "a",
    "umask": "0077",
    "secrets": (SecretUse("a", env="A"),),
    "network": False,
    "simulation": SimulationDocument(()),
    "container": ContainerDocument("docker://a"),
    "engine": EngineOptions(partition="a"),
    "inputs": (FileInput("https://a/b", checksum=SUM),),
    "outputs": (FileOutput("a"),),
    "inherit_env": {"A": "1"},
    "executor": "other",
    "function": FunctionSpec("math:gcd"),
    "identity": {"A": "1"},
    "own_paths": ("/a",),
    "app": AppSpec("a-1", "0", "run"),
    "code": CodeDocument("0" * 64),
    "requires": ("a",),
    "requirements": RequirementsDocument("0" * 64),
}
"""Each field of a spec that belongs to the key, with a value."""


def key(**fields: Any) -> str:  # noqa: ANN401 (of several types)
    return str(key_of(JobSpec(**fields))["key"])


def keys_of(*jobs: dict[str, Any], **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (as rows_of)
    rows = rows_of([{**job, "cache": "inputs"} for job in jobs], **more)
    return [one for fields in rows.rare_fields for one in fields.get("cache_keys", [fields])]


def test_each_field_of_a_spec_is_in_the_key_or_left_out() -> None:
    """A new one has to be put into one of both sets."""
    assert FIELDS.keys() | LEFT_OUT == {*JobSpec.__struct_fields__}
    assert len({key(), *(key(**{name: one}) for name, one in FIELDS.items())}) == len(FIELDS) + 1
    numbers: dict[str, Any] = {"timeout_s": 1.0, "trace_id": "a", "shares": 1, "original": b"a"}
    assert {key(**{name: one}) for name, one in numbers.items()} == {key()}


def test_inputs_count_by_what_they_hold() -> None:
    """Not by where they come from; a job's output has its digest when the job is ready."""
    here, there = (FileInput(f"https://{at}/x", checksum=SUM) for at in "ab")
    changed, elsewhere = (
        msgspec.structs.replace(here, **change)
        for change in ({"checksum": OTHER_SUM}, {"to": "y"})
    )
    same, *others = [key(inputs=(one,)) for one in (here, changed, elsewhere)]
    assert key(inputs=(there,)) == same
    assert len({same, *others}) == 3
    (of_parent,) = keys_of({"command": ["a"], "inputs": [{"from": "weft://make/x"}]})
    (of_batch,) = keys_of({"command": ["a"], "inputs": [{"from": "weft://b3.j7/x"}]})
    assert of_parent["key"] == of_batch["key"]
    assert of_parent["wants"] == [{"batch": None, "job": 0, "parent": "make", "path": "x"}]
    assert of_batch["wants"] == [{"batch": 3, "job": 7, "parent": None, "path": "x"}]


def test_each_job_of_an_array_has_its_own_key() -> None:
    one, two = {"command": ["a"], "count": 2}, {"command": ["a"], "values": ["x", "y"]}
    found = [row["key"] for row in keys_of(one, two)]
    assert len({*found}) == 4
    again = keys_of({**one, "index_from": 1}, {**two, "values": ["y"]})
    assert again[0]["key"] == found[1]
    assert again[2]["key"] not in found  # y has another index
    assert keys_of(one, inherit_env={"A": "1"})[0]["key"] not in found


def test_a_function_counts_whoever_carries_it() -> None:
    first, other = (
        {"function": {"pickle": code, "arguments": "AAAA"}} for code in ("AAAA", "BBBB")
    )
    second = {"function": {"of": 1, "arguments": "BBBB"}}
    assert len({row["key"] for row in keys_of(first, second)}) == 2
    assert keys_of(first, second)[1] == keys_of(first, second)[1]
    assert keys_of(first, second)[1] != keys_of(other, second)[1]
    (late,) = keys_of(second, first=2)
    assert late["not_cached"] == "its function came with an earlier request"


@cases("source", ["x", "https://a/x", "store://genomes/x", "file:///x"])
def test_what_may_change_runs_and_says_why(source: str) -> None:
    (kept,) = keys_of({"command": ["a"], "inputs": [{"from": source}]})
    assert kept["not_cached"] == f"its input {source} has no `checksum`"


@cases(
    ("job", "what"),
    [
        ({"wait": {"for": "event"}}, "runs nothing"),
        ({"name": "a", "command": ["a"], "service": {}}, "never ends"),
        ({"command": ["a"], "count": 10_001}, "at most 10000"),
    ],
)
def test_where_it_makes_no_sense_it_is_refused(job: dict[str, Any], what: str) -> None:
    assert what in wrong({**job, "cache": "inputs"})["/jobs/0/cache"]
    assert rows_of([{**job, "cache": "off"}]).rare_fields[0]["cache"] == "off"
