"""How many requests a token may send."""

from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from api.fakes import TOKEN, RecordingStore, SilentNotices, client_of
from weft.api.app import create_app
from weft.api.http import rate_limits
from weft.api.http.rate_limits import FailedLogins, RateLimits
from weft.core.errors import RateLimitExceeded, TooManyFailedLogins
from weft.ports.store import Caller
from weft.settings import Settings

HEADERS = {"authorization": f"Bearer {TOKEN}"}
ONE, OTHER = Caller(1, 1, "ada", token_id=1), Caller(1, 1, "ada", token_id=2)


class Clock:
    """A clock that stands still."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def asking(store: RecordingStore, settings: Settings) -> httpx.AsyncClient:
    """Give a client of an api with these settings."""
    return client_of(create_app(store, SilentNotices(), None, settings))  # type: ignore[arg-type]  # doubles


def test_token_has_the_requests_of_ten_seconds_and_then_a_steady_rate() -> None:
    clock = Clock()
    limits = RateLimits(2.0, clock=clock)
    burst = [limits.take(ONE) for _ in range(21)]
    clock.now = 3.0
    later = [limits.take(ONE) for _ in range(7)]
    clock.now = 1000.0

    assert [one.is_allowed for one in burst] == [True] * 20 + [False]
    assert [one.remaining for one in burst[:2]] == [19, 18]
    assert (burst[-1].retry_in_s, burst[-1].full_in_s) == (1, 10)
    assert [one.is_allowed for one in later] == [True] * 6 + [False]
    assert limits.take(ONE).remaining == 19


def test_other_tokens_and_users_of_other_issuers_have_buckets_of_their_own() -> None:
    limits = RateLimits(0.1, clock=Clock())
    bearers = [Caller(1, user, "x") for user in (1, 2)]

    assert [limits.take(one).is_allowed for one in (ONE, ONE, OTHER, *bearers, bearers[0])] == [
        True, False, True, True, True, False
    ]  # fmt: skip


def test_bucket_that_was_used_last_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "TOKENS_MAX", 2)
    limits = RateLimits(0.1, clock=Clock())
    callers = [Caller(1, 1, "x", token_id=n) for n in (1, 2, 3)]

    assert [limits.take(one).is_allowed for one in (*callers, callers[2], callers[0])] == [
        True, True, True, False, True
    ]  # fmt: skip


def test_many_tokens_of_a_user_share_one_rate() -> None:
    """Whoever has used up the rate of a token has not used up that of the user, and the other way
    round; what is refused is taken from neither.
    """
    clock = Clock()
    limits = RateLimits(0.2, 0.3, clock)
    third, other = Caller(1, 1, "ada", token_id=3), Caller(1, 2, "eve", token_id=4)
    verdicts = [limits.take(one) for one in (ONE, ONE, ONE, OTHER, third, other)]
    clock.now = 4.0
    later = [limits.take(one) for one in (third, OTHER)]

    found = [(one.is_allowed, one.of, one.remaining) for one in verdicts]
    assert found == [
        (True, "token", 1), (True, "token", 0), (False, "token", 0), (True, "user", 0),
        (False, "user", 0), (True, "token", 1),
    ]  # fmt: skip
    assert [one.retry_in_s for one in verdicts if not one.is_allowed] == [5, 4]
    assert [one.is_allowed for one in later] == [True, False]


async def test_headers_name_the_limit_that_is_nearer(
    store: RecordingStore, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path, requests_per_s=0.3, user_requests_per_s=0.1)
    async with asking(store, settings) as http:
        allowed, refused = [await http.get("/v1/batches/1", headers=HEADERS) for _ in range(2)]

    assert [one.status_code for one in (allowed, refused)] == [200, 429]
    policy = '"token";q=3;w=10, "user";q=1;w=10'
    assert {one.headers["ratelimit-policy"] for one in (allowed, refused)} == {policy}
    assert allowed.headers["ratelimit"].startswith('"user";r=0;t=')
    assert int(refused.headers["retry-after"]) in range(8, 11)
    assert refused.json()["detail"] == "It may send 0.1 per second in the long run."


async def test_request_too_many_is_refused_with_the_headers_that_say_when(
    store: RecordingStore, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path, requests_per_s=0.2)
    async with asking(store, settings) as http:
        with capture_logs() as logs:
            answers = [await http.get("/v1/batches/1", headers=HEADERS) for _ in range(3)]
            open_ = [await http.get("/healthz") for _ in range(3)]
            refused = await http.post("/v1/batches", headers=HEADERS, json={})

    assert [one.status_code for one in answers] == [200, 200, 429]
    assert [one.headers["ratelimit"].partition(";t")[0] for one in answers] == [
        '"token";r=1', '"token";r=0', '"token";r=0'
    ]  # fmt: skip
    assert answers[0].headers["ratelimit-policy"] == '"token";q=2;w=10'
    assert int(refused.headers["retry-after"]) in range(1, 6)
    assert refused.json()["code"] == RateLimitExceeded.code == "API.RATE_LIMIT_EXCEEDED"
    assert "retry-after" not in answers[0].headers
    assert [one.status_code for one in open_] == [200] * 3
    assert store.created == []
    (line,) = [one for one in logs if one["event"] == "request.answered"]
    who = await store.authenticate(TOKEN)
    assert who is not None
    assert (line["user"], line["token"]) == (who.user_name, who.token_id)


def test_a_refusal_is_new_once_a_minute_for_each_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "TOKENS_MAX", 2)
    clock = Clock()
    limits = RateLimits(1.0, clock=clock)
    found = []
    for clock.now in (0.0, 59.0, 60.0, 61.0):
        found.append([limits.is_new_refusal(one) for one in (ONE, ONE, OTHER)])
    limits.is_new_refusal(Caller(1, 1, "x", token_id=3))

    again = [True, False, True]
    assert found == [again, [False] * 3, again, [False] * 3]
    assert limits.is_new_refusal(ONE)


async def test_first_refusal_of_a_minute_is_told_and_no_further_one(
    store: RecordingStore, tmp_path: Path
) -> None:
    """Whatever it is that was refused first."""
    settings = Settings(home=tmp_path, requests_per_s=0.1)
    async with asking(store, settings) as http:
        with capture_logs() as logs:
            for _ in range(3):
                await http.get("/v1/batches/1", headers=HEADERS)
            for _ in range(3):
                await http.post("/v1/batches", headers=HEADERS, json={})

    (line,) = [one for one in logs if one["event"] == "request.answered"]
    assert (line["log_level"], line["method"], line["status"]) == ("info", "GET", 429)


def test_somebody_with_many_addresses_counts_once() -> None:
    """A provider gives each customer a /64 of IPv6."""
    logins = FailedLogins(0.1, Clock())
    for address in ("2001:db8::1", "1.1.1.1", "::ffff:2.2.2.2", "unix"):
        logins.check(address)
        logins.note(address)

    for address in ("2001:db8::1", "2001:db8::ffff:0:9", "::ffff:1.1.1.1", "2.2.2.2", "unix"):
        with pytest.raises(TooManyFailedLogins):
            logins.check(address)
    for address in ("2001:db8:0:1::1", "1.1.1.2", "::ffff:3.3.3.3", "::1", ""):
        logins.check(address)


async def test_address_with_too_many_wrong_tokens_is_refused_unasked(
    store: RecordingStore, tmp_path: Path
) -> None:
    """Wherever the token comes."""
    settings = Settings(home=tmp_path, failed_logins_per_s=0.2)
    app = create_app(store, SilentNotices(), None, settings)  # type: ignore[arg-type]  # doubles

    async def ask(address: str, token: str | None) -> httpx.Response:
        transport = httpx.ASGITransport(app, client=(address, 1))
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://weft") as http:
            if token and token.startswith("form"):
                return await http.post(
                    "/login", data={"token": token}, headers={"origin": "http://weft"}
                )
            return await http.get("/v1/batches/1", headers=headers)

    known = await ask("1.1.1.1", TOKEN)
    without = [await ask("1.1.1.1", None) for _ in range(5)]
    wrong = [
        await ask("1.1.1.1", f"{where}-{n}")
        for n, where in enumerate(("form", "head", "form", "head"))
    ]
    asked = store.authenticated
    remembered = await ask("1.1.1.1", TOKEN)
    elsewhere = await ask("2.2.2.2", "wrong")
    problem = wrong[-1].json()

    assert {one.status_code for one in without} == {401}
    assert [one.status_code for one in wrong] == [401, 401, 429, 429]
    assert asked == 3  # the good one, and two wrong ones
    assert (known.status_code, remembered.status_code, elsewhere.status_code) == (200, 200, 401)
    assert problem["code"] == TooManyFailedLogins.code == "API.TOO_MANY_FAILED_LOGINS"
    assert int(wrong[-1].headers["retry-after"]) in range(1, 6)
