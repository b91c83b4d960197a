"""The configuration of jobs: CEL over the fields of an item, bounded before it is evaluated."""

import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from cases import cases
from weft.core.lines.series import Standing
from weft_lines.rules.configuration import (
    CannotConfigure,
    MustAsk,
    MustWait,
    configure,
    parameters_of,
    parse_configuration,
    standing_of,
)

ITEM = {
    "key": "a",
    "tile": "32TLR",
    "cloud": 40,
    "esa": "2027-04-13T13:02:00Z",
    "measured": "2027-04-13T10:13:47Z",
    "bands": ["B1", "B2"],
}
NRT = "timestamp(item.esa) - timestamp(item.measured) < duration('24h') ? 'nrt' : 'delayed'"


def problems(document: dict[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    said: list[tuple[tuple[str, ...], str]] = []
    parse_configuration(document, lambda where, what: said.append((where, what)))
    return said


def test_job_is_configured_by_its_item() -> None:
    document = {
        "cancel_if": "item.cloud > 90",
        "priority": NRT,
        "priorities": ["nrt", "delayed", "reprocessing"],
        "queue": "item.cloud < 50 ? 'clear' : 'cloudy'",
        "env": {"TILE": "item.tile", "N": "size(item.bands)", "GOOD": "'B1' in item.bands"},
        "resources": {"memory": "'2Gi'", "cpu": "item.cloud > 30 ? 2 : 1"},
    }
    assert problems(document) == []
    assert configure(document, ITEM).fields == {
        "priority": 2,
        "queue": "clear",
        "attributes": {"priority_name": "nrt"},
        "env": {"TILE": "32TLR", "N": "2", "GOOD": "true"},
        "resources": {"memory": "2Gi", "cpu": 2},
    }
    assert configure(document, {**ITEM, "cloud": 95}).cancelled


@cases(
    ("document", "where", "what"),
    [
        ({"cancel_if": "item.cloud >"}, ("cancel_if",), "line 1, column"),
        ({"cancel_if": "other.cloud > 1"}, ("cancel_if",), "there is no other"),
        ({"cancel_if": "param == 1"}, ("cancel_if",), "name a parameter"),
        ({"cancel_if": "open('x')"}, ("cancel_if",), "there is no function open"),
        ({"env": {"A": "item.a.all(x, item.a.all(y, x == y))"}}, ("env", "A"), "at most 1 loops"),
        ({"env": {"A": "item.a.map(x, x + x)"}}, ("env", "A"), "+ cannot stand in a loop"),
        ({"cancel_if": "item.a.exists(x, x.matches('a'))"}, ("cancel_if",), "stand in a loop"),
        ({"env": {"A": 3}}, ("env", "A"), "an expression"),
        ({"env": 3}, ("env",), "a table"),
        ({"resources": {"gold": "1"}}, ("resources", "gold"), "is not one of"),
        ({"priorities": []}, ("priorities",), "a list"),
        ({"command": "x"}, ("command",), "no such field"),
    ],
)
def test_wrong_expressions_are_refused(document: Any, where: tuple[str, ...], what: str) -> None:  # noqa: ANN401
    said = problems(document)
    assert any(at == where and what in why for at, why in said), said


@cases(
    ("document", "what"),
    [
        ({"env": {"A": "item.gone"}}, "env.A"),
        ({"cancel_if": "item.tile"}, "cancel_if is not true or false"),
        ({"priority": "item.tile"}, "priority is neither"),
        ({"queue": "item.cloud"}, "queue is not a text"),
        ({"env": {"A": "item.bands"}}, "env.A is neither"),
        ({"resources": {"cpu": "item.bands"}}, "resources.cpu is neither"),
    ],
)
def test_item_that_cannot_be_configured_says_why(document: Any, what: str) -> None:  # noqa: ANN401
    with pytest.raises(CannotConfigure, match=what):
        configure(document, ITEM)


def test_long_lists_do_not_meet_loops() -> None:
    item = {"a": list(range(10_000))}
    begun = time.monotonic()
    with pytest.raises(CannotConfigure, match="more than 1000 elements"):
        configure({"cancel_if": "item.a.all(x, x in item.a)"}, item)
    assert not configure({"cancel_if": "size(item.a) < 3"}, item).cancelled
    assert configure({"cancel_if": "item.a.all(x, x in item.a)"}, {"a": [*range(1000)]}).cancelled
    assert time.monotonic() - begun < 5


PARAMS = {"start": datetime(2027, 4, 1, tzinfo=UTC), "within": "60d", "clouds": 50}


@cases(
    ("text", "value"),
    [
        ("item.measured < param.start", False),
        ("item.esa - item.measured <= param.within", True),
        ("item.esa - item.measured < duration('1h')", False),
        ("timestamp(item.measured) > param.start", True),
        ("item.cloud > param.clouds", False),
        ("item.measured.startsWith('2027')", True),
    ],
)
def test_texts_are_times_where_times_are_asked_for(text: str, value: bool) -> None:
    found = configure({"env": {"A": text}}, ITEM, PARAMS)
    assert found.fields["env"]["A"] == str(value).lower()


def test_parameters_that_were_read_are_named() -> None:
    document = {"cancel_if": "item.cloud > param.clouds", "env": {"A": "param.within"}}
    assert parameters_of(document) == {"clouds", "within"}
    assert configure(document, ITEM, PARAMS).parameters == {"clouds", "within"}
    assert configure(document, {**ITEM, "cloud": 99}, PARAMS).parameters == {"clouds"}
    with pytest.raises(MustWait, match="there is no parameter clouds yet"):
        configure(document, ITEM, {})


RULES = {
    "series": {"key": "item.tile", "order": "item.measured"},
    "env": {
        "MODE": "series.previous != null && item.measured - series.previous.measured "
        "<= param.within ? 'nominal' : 'init'"
    },
}


def test_item_waits_for_the_one_before_it_and_then_reads_it() -> None:
    assert problems(RULES) == []
    assert standing_of(RULES, ITEM, {}) == ("32TLR", Decimal(1_807_611_227))
    for days, mode in ((1, "nominal"), (70, "init")):
        measured = datetime.fromisoformat(str(ITEM["measured"])) - timedelta(days=days)
        standing = Standing("32TLR", None, {"measured": measured.isoformat()})
        assert configure(RULES, ITEM, PARAMS, standing).fields["env"] == {"MODE": mode}
    assert configure(RULES, ITEM, PARAMS, Standing("32TLR", None, None)).fields["env"] == {
        "MODE": "init"
    }
    with pytest.raises(MustWait, match="it waits for"):
        configure(RULES, ITEM, PARAMS, Standing("32TLR", "it waits for b1.j2", None))
    with pytest.raises(MustWait, match="wait_until"):
        configure({"wait_until": "now < timestamp('2020-01-01T00:00:00Z')"}, ITEM)
    for rule, why in (
        ({"key": "item.tile"}, "it should be an expression"),
        ({"key": "series.key", "order": "item.n"}, "reads its own series"),
        ({"key": "item.tile", "order": "item.n", "skip": "x"}, "a list"),
        ({"key": "item.tile", "order": "item.n", "within": "far"}, "a time"),
        ({"key": "item.tile", "order": "item.n", "last": "x"}, "no such field"),
    ):
        assert any(why in what for _, what in problems({"series": rule})), rule
    with pytest.raises(CannotConfigure, match="neither a date nor a number"):
        standing_of({"series": {"key": "item.tile", "order": "item.tile"}}, ITEM, {})


LET = {"let": {"esa": {"plugin": "http", "url": "https://hub.example/${item.key}"}}}


def test_item_that_waits_in_its_series_asks_nothing() -> None:
    rules = {**LET, "series": RULES["series"], "env": {"A": "esa.at", "B": "esa.of"}}
    assert problems(rules) == []
    for waits, raised in (("b1.j1", MustWait), (None, MustAsk)):
        with pytest.raises(raised):
            configure(rules, ITEM, {}, Standing("32TLR", waits, None))


@cases(
    ("rules", "where"),
    [
        ({**LET, "env": {"A": "eas.at"}}, ("env", "A")),
        ({**LET, "series": {"key": "esa.a", "order": "item.b"}}, ("series", "key")),
        ({"let": {"item": LET["let"]["esa"]}}, ("let", "item")),
        ({"let": {"esa": {"plugin": "http", "url": "https://${item.a}/"}}}, ("let", "esa", "url")),
        ({"let": {"esa": {"plugin": "http", "url": "file:///x"}}}, ("let", "esa", "url")),
    ],
)
def test_wrong_look_ups_are_refused(rules: Any, where: tuple[str, ...]) -> None:  # noqa: ANN401
    assert where in [at for at, _ in problems(rules)]
