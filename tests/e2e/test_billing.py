"""weft billing: costs and prices, as a person asks for them."""

import json
from typing import Any

import pytest

from e2e.conftest import Weft

pytestmark = pytest.mark.heavy


def as_json(weft: Weft, *arguments: str) -> Any:  # noqa: ANN401 (any document)
    done = weft.run("billing", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_was_used_is_billed_and_prices_have_versions(weft: Weft) -> None:
    assert weft.run("run", "--", "sleep", "0.1").returncode == 0
    (project,) = (one for one in as_json(weft) if one["name"] == "default")
    (day, *_) = as_json(weft, "days", "default")
    assert project["cost"] >= day["cost"] > 0
    assert {one["resource"] for one in day["cost_by_resource"]} == {"cpu", "memory"}

    before = as_json(weft, "rates")
    version = as_json(weft, "set-rates", "--cpu", "0.02")["version"]
    (newest, *others) = as_json(weft, "rates")
    assert (newest["version"], others) == (version, before)
    for arguments in ((), ("days",), ("rates",)):
        shown = weft.run("billing", *arguments)
        assert shown.returncode == 0, shown.stderr
        assert b"Core h" in shown.stdout


def test_wrong_prices_and_projects_are_refused_with_a_word(weft: Weft) -> None:
    price = weft.run("billing", "set-rates", "--gpu", "-1")
    past = weft.run("billing", "set-rates", "--gpu", "1", "--from", "2020-01-01T00:00:00")
    unknown = weft.run("billing", "days", "nobody's")

    assert (price.returncode, past.returncode, unknown.returncode) == (2, 4, 2)
    assert b"is not a price" in price.stderr
    assert b"has passed" in past.stderr
    assert b"does not exist" in unknown.stderr


def test_wrong_price_is_corrected_and_the_correction_shown(weft: Weft) -> None:
    version = as_json(weft, "set-rates", "--cpu", "20")["version"]
    words = ("correct-rates", str(version), "--cpu", "0.02", "--reason", "two zeros too many")
    tried = weft.run("billing", *words, "--dry-run")
    in_json = as_json(weft, *words, "--dry-run")
    done = weft.run("billing", *words)
    again = weft.run("billing", *words, "--dry-run")
    shown = weft.run("billing", "rates")
    unknown = weft.run("billing", "correct-rates", "99", "--cpu", "1")

    assert b"nothing was changed" in tried.stderr
    assert tried.stdout.decode().splitlines()[0] == "cpu: 20 → 0.02"
    assert in_json == {
        "version": version,
        "dry_run": True,
        "n_attempts": 0,
        "costs": [],
        "changes": {"cpu": {"before": 20, "after": pytest.approx(0.02)}},
    }
    assert b"is like this already" in again.stderr
    assert (tried.returncode, done.returncode) == (0, 0), done.stderr
    assert f"version {version}: cpu 20 → 0.02 (two zeros too many), by " in shown.stdout.decode()
    assert (unknown.returncode, b"does not exist" in unknown.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "action"),
    [
        (("billing", "set-rates", "--cpu", "0.03"), "set_rates"),
        (("billing", "correct-rates", "1", "--gpu", "0.5"), "correct_rates"),
        (("audit",), "audit"),
        (("db", "views", "add", "trailed"), "add_view_login"),
        (("db", "views", "rm", "trailed"), "remove_view_login"),
    ],
)
def test_trail_has_what_the_owner_did(weft: Weft, words: tuple[str, ...], action: str) -> None:
    """An entry is shown when it is sealed."""
    done, found = weft.run(*words), b"[]"
    assert done.returncode == 0, done.stderr
    while found.strip() == b"[]":
        shown = weft.run("trail", "--all-tenants", "--action", action, "--json")
        assert shown.returncode == 0, shown.stderr
        found = shown.stdout
    newest = json.loads(found)[0]
    assert newest["user"].startswith("the owner (")
    assert newest["path"].startswith("weft ")
    as_user = weft.run(*words, env={"WEFT_TOKEN": "of a user"})
    assert (as_user.returncode, b"WEFT_TOKEN" in as_user.stderr) == (2, True)
