"""Whether a site is well, judged by its document."""

from typing import Any

from cases import cases
from weft.core.findings import judge

AT = "2040-05-17T12:30:00+00:00"


def process(role: str, **more: object) -> dict[str, Any]:
    facts = {"role": role, "version": "1.0", "pid": 7, "host": "h", "leads": False}
    return {**facts, "heard_at": AT, **more}


def program(role: str, n: int = 1, version: str | None = "1.0") -> dict[str, Any]:
    return {"role": role, "version": version, "n": n}


def site(**more: Any) -> dict[str, Any]:  # noqa: ANN401 (parts of a document)
    database: dict[str, Any] = {
        "n_connections": 12,
        "connections_max": 100,
        "sees_times": True,
        "longest_transaction": None,
        "tables": [],
    }
    database |= more.pop("database", {})
    return {
        "at": AT,
        "driver_settings": {},
        "processes": [process("driver", leads=True), process("api")],
        "programs": [program("api"), program("driver"), program("worker", 2)],
        "database": database,
        "audit": {"n_checks": 48, "wrong": []},
        **more,
    }


def open_since(began_at: str) -> dict[str, Any]:
    return {"longest_transaction": {"pid": 99, "login": "me", "began_at": began_at}}


def table(n_rows: int, n_dead: int) -> dict[str, Any]:
    return {"tables": [{"name": "job", "n_rows": n_rows, "n_dead": n_dead}]}


def test_a_site_that_is_well_has_no_advice() -> None:
    found = judge(site())

    assert {one.verdict for one in found} == {"ok"}
    assert {one.advice for one in found} == {""}
    told = {one.check: one.found for one in found}
    assert told["driver"] == "process 7 on h leads"
    assert told["workers"] == "2 are connected"
    assert told["audit"] == "all 48 checks held"


@cases(
    ("check", "verdict", "told", "advice", "more"),
    [
        ("driver", "wrong", "none leads", "weft driver", {"processes": [process("driver")]}),
        (
            "driver",
            "wrong",
            "was last heard 10:00 ago",
            "Another driver takes the lead over",
            {"processes": [process("driver", leads=True, heard_at="2040-05-17T12:20:00+00:00")]},
        ),
        (
            "driver",
            "ok",
            "leads, 1 more stands by",
            "",
            {"processes": [process("driver", leads=True), process("driver", pid=8)]},
        ),
        (
            "driver",
            "ok",
            "does not say its name leads",
            "",
            {"processes": [process("driver", leads=True, pid=None)]},
        ),
        (
            "workers",
            "warning",
            "none is connected",
            "`weft worker`",
            {"programs": [program("api")]},
        ),
        (
            "versions",
            "warning",
            "1.0, 1.1, an unknown one",
            "`weft db status`",
            {"programs": [program("api"), program("api", 1, "1.1"), program("worker", 1, None)]},
        ),
        (
            "connections",
            "warning",
            "90 of 100",
            "`max_connections`",
            {"database": {"n_connections": 90}},
        ),
        ("connections", "ok", "89 of 100", "", {"database": {"n_connections": 89}}),
        (
            "transaction",
            "warning",
            "open for 10:00, by me in process 99",
            "pg_terminate_backend(99)",
            {"database": open_since("2040-05-17T12:20:00+00:00")},
        ),
        (
            "transaction",
            "ok",
            "open for 9:59",
            "",
            {"database": open_since("2040-05-17T12:20:01+00:00")},
        ),
        (
            "transaction",
            "ok",
            "is hidden",
            "GRANT pg_read_all_stats",
            {"database": {"sees_times": False}},
        ),
        (
            "dead rows",
            "warning",
            "job (2,000,001)",
            "autovacuum",
            {"database": table(2_000_000, 2_000_001)},
        ),
        ("dead rows", "ok", "no large table", "", {"database": table(0, 1_000_000)}),
        ("audit", "ok", "none is recorded", "`weft audit`", {"audit": None}),
        (
            "audit",
            "wrong",
            "1 of 48 checks did not hold: x",
            "report",
            {"audit": {"n_checks": 48, "wrong": [{"check": "x"}]}},
        ),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(
    check: str, verdict: str, told: str, advice: str, more: dict[str, Any]
) -> None:
    (found,) = [one for one in judge(site(**more)) if one.check == check]

    assert found.verdict == verdict
    assert told in found.found
    assert advice in found.advice
    assert bool(advice) == bool(found.advice)
