"""Cases that share fixtures: each is tried and named, whichever fails."""

from contextlib import suppress
from typing import Any

from cases import cases


class _Subtests:
    def __init__(self) -> None:
        self.names: list[dict[str, Any]] = []

    def test(self, **case: Any) -> suppress:  # noqa: ANN401 (values of a case)
        self.names.append(case)
        return suppress(AssertionError)


async def test_a_case_that_fails_is_named_and_the_next_is_tried() -> None:
    calls, subtests = [], _Subtests()

    @cases("number", [1, 2, 3])
    def plain(number: int, shared: str) -> None:
        calls.append((number, shared))
        assert number == 1

    @cases(("number", "text"), [(1, "a"), (2, "b")])
    async def waiting(text: str, number: int) -> None:
        calls.append((number, text))
        raise AssertionError

    plain(subtests=subtests, shared="x")
    await waiting(subtests=subtests)

    assert calls == [(1, "x"), (2, "x"), (3, "x"), (1, "a"), (2, "b")]
    assert subtests.names == [
        *({"number": number} for number in (1, 2, 3)),
        {"number": 1, "text": "a"},
        {"number": 2, "text": "b"},
    ]
