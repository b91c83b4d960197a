"""Guards, and which queue takes a job."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cases import cases
from weft.core.queues import (
    ATTRIBUTES,
    Asked,
    Queue,
    Request,
    Route,
    Router,
    WrongGuard,
    compile_guard,
    compile_saved,
    plan_changes,
)
from weft.core.queues.attributes import Attribute

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "queues-and-pools.md"
NOW = datetime(2026, 11, 21, 23, 5, tzinfo=UTC)  # a Saturday


def router(*queues: Queue) -> Router:
    ordered = sorted(queues, key=lambda one: -(one.priority or 0))
    routes = [Route(one, compile_guard(one.guard) if one.guard else None) for one in ordered]
    return Router([*routes, Route(Queue(name="default"), None)], Request(user="ann", now=NOW))


def guarded(guard: str, *, name: str = "q", priority: int = 1) -> Queue:
    return Queue(name=name, priority=priority, guard=guard)


@cases(
    ("guard", "place", "reason"),
    [
        ("job.resources.cpu >", "line 1, column 20", "it ends too early"),
        ("user", "line 1, column 1", "it is text, not true or false"),
        ("job.priority + 1", "line 1, column 1", "it is a number, not true or false"),
        ("user = 'a'", "line 1, column 6", "= cannot stand here; write =="),
        ("user == 'a' and true", "line 1, column 13", "and cannot stand here; write &&"),
        ("user == 'a' | true", "line 1, column 13", "| cannot stand here; write ||"),
        ("user == 'a", "line 1, column 9", "the text that begins here has no closing quote"),
        ("size(user", "line 1, column 10", "a ) is missing at the end"),
        ("user == 'a')", "line 1, column 12", ") cannot stand here"),
        ("user == 'a' ? true", "line 1, column 19", "it ends too early"),
        ("user == 'a' && if", "line 1, column 16", "if is a reserved word"),
        ("job.timeout_s < 60s", "line 1, column 19", "s cannot stand here"),
        ("user..name", "line 1, column 6", "cannot stand here"),
        ("", "line 1, column 1", "it ends too early"),
        ("true &&\n  usr == 'a'", "line 2, column 3", "no attribute usr; did you mean user?"),
        ("job.zzzz > 1", "line 1, column 1", "there is no attribute job.zzzz; known: name"),
        ("resources.cpu > 1", "line 1, column 1", "did you mean job.resources.cpu?"),
        ("job.name.first == 'a'", "line 1, column 1", "job.name has no fields"),
        ("job == 1", "line 1, column 1", "name a field of job"),
        ("size(user) > 1 && f(1)", "line 1, column 19", "there is no function f"),
        ("user.reverse() == 'a'", "line 1, column 6", "there is no function reverse"),
        (".user == 'a'", "line 1, column 2", "a name cannot begin with a point"),
        ("x > 1 || [1].all(x, x > 0)", "line 1, column 1", "there is no attribute x"),
        ("user == '" + "a" * 1000 + "'", "line 1, column 1", "at most 1000"),
        ("[1].all(x, [1].all(y, [1].all(z, z > 0)))", "line 1, column 27", "at most 2 loops"),
        ("[1].map(x, x).map(x, x) == [1]", "line 1, column 15", "at most 1 map"),
        ("[[1]].exists(l, l + l == l)", "line 1, column 19", "+ cannot stand in a loop"),
    ],
)
def test_a_wrong_guard_is_refused_with_position_and_reason(
    guard: str, place: str, reason: str
) -> None:
    with pytest.raises(WrongGuard) as caught:
        compile_guard(guard)

    assert str(caught.value).startswith(f"{place}: ")
    assert reason in str(caught.value)


@cases("attribute", [one for one in ATTRIBUTES if len(one.path) > 1])
def test_the_last_part_of_an_attribute_alone_leads_to_it(attribute: Attribute) -> None:
    with pytest.raises(WrongGuard, match=rf"did you mean [^?]*{attribute.name}\b[^?]*\?"):
        compile_guard(f"{attribute.path[-1]} == 1")


@cases(
    ("guard", "reason"),
    [
        ("user > 1", "it mixes values of different types"),
        ("user + 1 == user", "it mixes values of different types"),
        ("job.count / job.priority == 1", "it divides by zero"),
        ("9223372036854775807 + job.count > 0", "a number in it is too large"),
        ("[1][job.count] == 1", "a list in it has no such element"),
        ("int(user) == 1", "int() cannot use what it is given"),
        ("size(job.count) == 1", "size() cannot use what it is given"),
        ("user.matches(')')", "matches() cannot use what it is given"),
        ("job.attributes.nothing == 'a'", "there is no 'nothing'"),
    ],
)
def test_a_guard_that_fails_says_why_in_plain_words(guard: str, reason: str) -> None:
    (verdict, _) = router(guarded(guard)).explain(Asked())

    assert verdict.reason.startswith(f"its guard fails: {reason}")


@cases(
    ("guard", "takes"),
    [
        ("job.resources.cpu >= 2", True),
        ("job.resources.memory == 1024 * 1024 * 1024", True),
        ("job.attributes.team == 'a' && user.startsWith('an')", True),
        ("has(job.attributes.nothing) && job.attributes.nothing == 'x'", False),
        ("'team' in job.attributes && job.attributes['team'] == 'a'", True),
        ("job.attributes.exists(key, key == 'team')", True),
        ("now.hour == 23 && now.weekday == 6 && now.date == '2026-11-21'", True),
        ("batch.name == '' && batch.billing_project == 'default'", True),
        ("executor == 'process' && job.count == 1 && job.timeout_s == 0.0", True),
        ("!job.always_run && job.priority == 0 && job.max_attempts == 1", True),
        ("job.app.startsWith('count-')", True),
        ('user == "a // b"', False),
    ],
)
def test_guards_read_what_jobs_ask(guard: str, takes: bool) -> None:
    job = Asked(cpu_m=2000, memory_mib=1024, attributes={"team": "a"}, app="count-1.0")

    assert router(guarded(guard)).queue_of(job) == ("q" if takes else "default")


@cases(
    "guard",
    ["1 / 0 == 1", "job.attributes.nothing == 'x'", "user < 1", "job.always_run ? 1 : true"],
)
def test_a_guard_that_fails_counts_as_false_and_is_counted(guard: str) -> None:
    found = router(guarded(guard))

    assert found.queue_of(Asked(always_run=True)) == "default"
    assert found.failures == {"q": 1}


ONES = "[" + ",".join("1" * 215) + "]"


@cases(
    ("guard", "reason"),
    [
        (f"{ONES}.all(x,{ONES}.all(y,job.name.matches('(\\\\w{{90}})+$')||true))", "64 commas"),
        (f"{ONES}.all(x,{ONES}.all(y,x<=y))", "64 commas"),
        ("[1].all(x,[2].all(y,user.matches('a')))", "in loops inside each other"),
        ("[1].all(x,user.matches(r'\\w'))", "no class such as"),
        ("[1].all(x,user.matches('a{2}'))", "no counted repetition"),
        ("user.matches('(a{9})+')", "cannot stand in what is repeated"),
        ("user.matches(job.name)", "the pattern of matches is one text"),
        ("user.matches('a' + 'b')", "the pattern of matches is one text"),
        ("user.matches(('a'))", "the pattern of matches is one text"),
        (r"user.matches('a\x7b90}')", "write it as r'...'"),
        (r"user.matches('a\u007b90}')", "write it as r'...'"),
        (r"r'\' == user || user.matches('a{90}') || user == r'\'", "repeats 90 times"),
        (r"'''\'''' == user || user.matches('a{90}') || user == '''\''''", "repeats 90 times"),
        ("||".join(["user.matches('a')"] * 11), "at most 10 patterns"),
    ],
)
def test_guards_that_could_take_long_are_refused_before_they_are_tried(
    guard: str, reason: str
) -> None:
    begun = time.process_time()
    with pytest.raises(WrongGuard) as refused:
        compile_guard(guard)

    assert reason in str(refused.value)
    assert time.process_time() - begun < 3


@cases(
    "guard",
    [
        r"user.matches('^[a-z]+\\d{2}$')",
        r"user.matches(r'\w+')",
        r"user.matches('''it's''')",
        "job.attributes.exists(key, key.matches('^team'))",
    ],
)
def test_patterns_in_guards_may_be_written_in_each_way(guard: str) -> None:
    assert (
        compile_guard(guard).evaluate({("user",): "ann12", ("job", "attributes"): {}})[1] is None
    )


def test_a_saved_guard_that_is_refused_now_is_false_and_others_go_on() -> None:
    saved = compile_saved("[1].map(x, x).map(x, x) == [1]")
    routes = [
        Route(guarded("true", name="older"), saved),
        Route(guarded("true", name="next"), compile_saved("true")),
    ]
    found = Router(routes, Request(user="ann", now=NOW))
    assert found.queue_of(Asked()) == "next"
    assert found.failures == {"older": 1}
    assert "at most 1 map" in found.explain(Asked())[0].reason


def test_the_first_guard_in_the_order_of_priority_wins() -> None:
    found = router(
        guarded("true", name="low", priority=1),
        guarded("job.resources.gpu > 0", name="gpu", priority=9),
        guarded("true", name="mid", priority=5),
    )

    assert found.queue_of(Asked(gpu=1)) == "gpu"
    assert found.queue_of(Asked()) == "mid"


def test_closed_queues_and_those_of_others_take_nothing() -> None:
    found = router(
        Queue(name="drained", priority=4, guard="true", state="draining"),
        Queue(name="bobs", priority=3, guard="true", users=("bob",)),
        Queue(name="anns", priority=2, guard="true", users=("ann", "bob")),
    )

    assert found.queue_of(Asked()) == "anns"
    assert [tuple(one) for one in found.explain(Asked())] == [
        ("drained", False, "it is draining"),
        ("bobs", False, "ann may not use it"),
        ("anns", True, ""),
    ]


def test_explanations_name_what_the_guard_read() -> None:
    found = router(
        guarded("job.resources.cpu >= 4", name="big", priority=3),
        guarded("1 / 0 == 1", name="odd", priority=2),
        Queue(name="mine", priority=1),
    ).explain(Asked())

    assert [one.reason for one in found] == [
        "its guard is false: job.resources.cpu = 1.0",
        "its guard fails: it divides by zero",
        "it has no guard: it takes only jobs that name it",
        "",
    ]
    assert found[-1].queue == "default"


def test_10000_equal_jobs_cost_one_evaluation() -> None:
    found = router(guarded("job.resources.cpu >= 2 && user == 'ann' && now.hour > 20"))
    jobs = [Asked(name=f"n{n}", cpu_m=2000 + n % 2 * 500, priority=n % 7) for n in range(10_000)]
    equal = router(guarded("job.resources.cpu >= 2"))

    assert {found.queue_of(job) for job in jobs} == {"q"}
    assert found.n_evaluated == 2
    assert {equal.queue_of(Asked(name=f"n{n}")) for n in range(10_000)} == {"default"}
    assert equal.n_evaluated == 1


def test_the_longest_loop_is_bounded() -> None:
    numbers = "[" + ",".join("1" * 30) + "]"
    guard = compile_guard(f"{numbers}.all(x, {numbers}.all(y, x * y > 0))")

    assert guard.evaluate({}) == (True, None)
    with pytest.raises(WrongGuard, match="at most 2 loops"):
        compile_guard(f"{numbers}.all(x, [1].all(y, [1].exists(z, x + y + z > 0)))")


def test_lists_that_grow_are_bounded() -> None:
    """Each further `map` would make it ten times as long: seven of them take all memory."""
    tenfold = ".map(l, [l,l,l,l,l,l,l,l,l,l])"
    largest = "[1].map(l, [" + "l," * 60 + "l]).exists(l, l.exists(x, x > 1))"

    with pytest.raises(WrongGuard, match="at most 1 map"):
        compile_guard(f"[1]{tenfold * 7}.exists(l, size(l) > 3)")
    assert compile_guard(largest).evaluate({}) == (False, None)


def test_differences_are_created_changed_and_deleted_queues() -> None:
    now = [Queue(name="a", priority=1), Queue(name="b", priority=2), Queue(name="default")]
    wanted = [
        Queue(name="c", priority=9, guard="true"),
        Queue(name="b", priority=3),
        Queue(name="default"),
    ]
    found = [(one.kind, one.queue, one.fields) for one in plan_changes(now, wanted)]

    assert found == [
        ("delete", "a", {}),
        ("create", "c", {"priority": (None, 9), "guard": (None, "true")}),
        ("change", "b", {"priority": (2, 3)}),
    ]
    assert plan_changes(now, now) == []


def test_the_guide_lists_every_attribute() -> None:
    rows = [f"| `{one.name}` | {one.type} | {one.says} |" for one in ATTRIBUTES]

    assert [row for row in rows if row not in GUIDE.read_text()] == []
