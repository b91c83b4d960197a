"""Policies of packages: what they answer is checked as what a user writes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cases import cases
from plugins.package import install
from weft.submission.translation import retries
from weft.submission.translation.retries import policy_mistakes, whole_policy

CODE = """
class Fibonacci:
    parameters, optional = ("first_s",), ("tries",)
    def built_in(self, given):
        if not isinstance(given["first_s"], (int, float)):
            raise ValueError("first_s is not a number")
        waits = [given["first_s"]] * 2
        for _ in range(int(given.get("tries", 5)) - 2):
            waits.append(waits[-1] + waits[-2])
        return {"policy": "stepwise", "steps": [{"tries": 1, "wait_s": w} for w in waits]}

class Nonsense(Fibonacci):
    parameters = ()
    def built_in(self, given):
        return {"policy": "fibonacci"}

class Silent(Nonsense):
    def built_in(self, given):
        return None

class Broken(Nonsense):
    def __init__(self):
        raise RuntimeError("a secret")
"""
NAMES = ("Fibonacci", "Nonsense", "Silent", "Broken")


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "odd_policies.py").write_text(CODE)
    entries = "\n".join(f"{name.lower()} = odd_policies:{name}" for name in NAMES)
    install(tmp_path, monkeypatch, policies=f"constant = odd_policies:Broken\n{entries}")
    caches = (retries._names, retries._asked)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def wrong(policy: str, **fields: Any) -> list[tuple[tuple[str | int, ...], str]]:  # noqa: ANN401 (as in a document)
    return list(policy_mistakes({"policy": policy, **fields}))


def test_a_policy_of_a_package_becomes_a_built_in_one() -> None:
    given = {"policy": "fibonacci", "parameters": {"first_s": 2}, "wait_s": None}

    assert list(policy_mistakes(given)) == []
    assert whole_policy(given) == {
        "policy": "stepwise",
        "jitter": 0,
        "give_up_s": 172_800.0,
        "steps": [{"tries": 1, "wait_s": wait} for wait in (2, 2, 4, 6, 10)],
    }


def test_a_package_cannot_replace_what_is_built_in() -> None:
    assert wrong("constant", wait_s=3) == []
    assert whole_policy({"policy": "constant", "wait_s": 3})["wait_s"] == 3


@cases(
    ("policy", "fields", "where", "says"),
    [
        ("fibonaci", {}, ("policy",), "did you mean fibonacci"),
        ("fibonacci", {}, ("parameters",), "needs the parameter 'first_s'"),
        (
            "fibonacci",
            {"parameters": {"first_s": 1, "last": 2}},
            ("parameters", "last"),
            "no para",
        ),
        ("fibonacci", {"parameters": {"first_s": "x"}}, ("parameters",), "not a number"),
        ("fibonacci", {"parameters": {"first_s": 0}}, ("policy",), "steps.0.wait_s must be"),
        ("fibonacci", {"parameters": {"first_s": 1}, "wait_s": 1}, ("wait_s",), "use parameters"),
        ("nonsense", {}, ("policy",), "does not answer with a built-in policy"),
        ("silent", {}, ("policy",), "silent failed: TypeError"),
        ("broken", {}, ("policy",), "broken failed: RuntimeError"),
        ("constant", {"parameters": {"a": 1}}, ("parameters",), "no meaning"),
    ],
)
def test_a_wrong_policy_is_told(
    policy: str, fields: dict[str, Any], where: tuple[str, ...], says: str
) -> None:
    found = wrong(policy, **fields)

    assert [one[0] for one in found] == [where]
    assert says in found[0][1]
    assert "secret" not in found[0][1]
