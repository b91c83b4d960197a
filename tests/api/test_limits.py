"""What jobs say about when they may run, on a real database."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import msgspec
import pytest
from structlog.testing import capture_logs

from api.fakes import TOKEN, RecordingStore, SilentNotices, client_of
from api.live import LiveWorker
from api.test_bad_input import assert_problem
from weft.api.app import create_app
from weft.api.http import rate_limits
from weft.api.http.rate_limits import FailedLogins, RateLimits
from weft.core.errors import RateLimitExceeded, TooManyFailedLogins
from weft.ports.store import Caller
from weft.settings import Settings

LATE = "2100-01-01T00:00:00"


async def create(http: httpx.AsyncClient, *jobs: dict[str, Any]) -> Any:  # noqa: ANN401 (a document)
    answer = await http.post("/v1/batches", json={"jobs": list(jobs)})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def documents(http: httpx.AsyncClient, batch: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await http.get(f"/v1/batches/{batch}/jobs")).json()["items"]
    return found


async def test_job_waits_until_its_date_which_its_document_shows_in_utc(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    batch = await create(
        http,
        {"not_before": f"{LATE}+02:00"},
        {"not_before": "1999-12-31T23:59:59Z"},
        {},
        {"not_before": f"{LATE}Z", "count": 2},
    )
    jobs = await documents(http, batch)

    assert await worker.work() == 2
    assert [job.get("not_before") for job in jobs] == [
        "2099-12-31T22:00:00Z",
        "1999-12-31T23:59:59Z",
        None,
        f"{LATE}Z",
        f"{LATE}Z",
    ]
    assert {job["state"] for job in await documents(http, batch)} == {"ready", "success"}


async def test_msgpack_has_times_of_its_own(http: httpx.AsyncClient) -> None:
    at = datetime.now(UTC).replace(microsecond=5) + timedelta(hours=1)
    answer = await http.post(
        "/v1/batches",
        content=msgspec.msgpack.encode({"jobs": [{"not_before": at}]}),
        headers={"content-type": "application/msgpack"},
    )
    (job,) = await documents(http, answer.json()["id"])

    assert datetime.fromisoformat(job["not_before"]) == at


async def test_jobs_with_one_key_take_turns(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    array = await create(http, {"concurrency_key": {"key": "db", "n": 2}, "count": 5})
    others = await create(http, {"concurrency_key": {"key": "db", "n": 2}}, {})
    claimed = await worker.claim_and_start(9)
    await worker.end(claimed)

    assert len(claimed) == 3
    assert await worker.work() == 4
    keys = [job["concurrency_key"] for job in await documents(http, array)]
    assert keys == [{"key": "db", "n": 2}] * 5
    assert "concurrency_key" not in (await documents(http, others))[1]


async def test_preemptible_jobs_say_so_in_their_documents(http: httpx.AsyncClient) -> None:
    batch = await create(http, {"preemptible": True, "count": 2}, {"preemptible": True}, {})

    shown = [job.get("preemptible") for job in await documents(http, batch)]
    assert shown == [True, True, True, None]


async def test_job_that_waits_for_a_key_shows_who_has_it(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    first = await create(http, {"concurrency_key": {"key": "shown", "n": 1}})
    other = await create(http, {"concurrency_key": {"key": "shown", "n": 1}})

    async def holders(batch: int) -> object:
        answer = await http.get(f"/v1/batches/{batch}/jobs/1")
        return answer.json().get("key_holders")

    assert await holders(first) is None
    assert await holders(other) == [{"batch_id": first, "job_id": 1}]
    assert await worker.work() == 2
    assert await holders(other) is None


async def test_job_asks_for_licences_in_its_resources(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    answer = await http.put("/v1/licences/matlab", json={"n": 2})
    assert answer.json()["n"] == 2
    batch = await create(
        http,
        {"resources": {"cpu": 1, "matlab": 2}, "count": 2},
        {"resources": {"matlab": 0}},
        {"resources": {"matlab": 1}},
    )
    jobs = await documents(http, batch)
    waiting = (await http.get(f"/v1/batches/{batch}/jobs/2/why")).json()["causes"][0]
    refused = await http.post("/v1/batches", json={"jobs": [{"resources": {"matlab": 3}}]})

    shown = [job.get("licences") for job in jobs]
    assert shown == [{"matlab": 2}, {"matlab": 2}, None, {"matlab": 1}]
    assert waiting["kind"] == "licence"
    assert "2 of 2 are used, 2 by b" in waiting["text"]
    assert_problem(refused, 400, "API.NOT_ENOUGH_LICENCES", "/jobs/0/resources/matlab")
    assert "asks for 3 matlab; there are 2 in all" in refused.text
    assert await worker.work() == 4
    assert (await http.delete("/v1/licences/matlab")).json() == {"licence": "matlab"}
    assert (await http.delete("/v1/licences/matlab")).json()["code"] == "WORKER.LICENCE_NOT_FOUND"
    gone = await http.post("/v1/batches", json={"jobs": [{"resources": {"matlab": 1}}]})
    assert "no worker offers this" in gone.text


async def test_wrong_name_of_a_licence_is_refused(http: httpx.AsyncClient) -> None:
    for name in ["cpu", "gpu", "queue", "A", "1a", "a b"]:
        answer = await http.put(f"/v1/licences/{name}", json={"n": 2})

        assert answer.status_code == 400
        assert answer.json()["code"] == "WORKER.BAD_LICENCE_NAME"


async def test_wrong_value_is_refused_with_its_place(http: httpx.AsyncClient) -> None:
    for field, value, code in [
        ("not_before", LATE, "API.WRONG_TYPE"),
        ("not_before", "tomorrow", "API.WRONG_TYPE"),
        ("not_before", 12, "API.WRONG_TYPE"),
        ("not_before", "0001-01-01T00:00:00+23:59", "API.INVALID_VALUE"),
        ("not_before", "9999-12-31T23:59:59-23:59", "API.INVALID_VALUE"),
        ("deadline", "1969-12-31T23:00:00Z", "API.INVALID_VALUE"),
        ("preemptible", "yes", "API.WRONG_TYPE"),
        ("concurrency_key", "db", "API.WRONG_TYPE"),
        ("concurrency_key/key", {"key": ""}, "API.INVALID_VALUE"),
        ("concurrency_key/key", {"key": "a\0b"}, "API.INVALID_VALUE"),
        ("concurrency_key/key", {"key": "x" * 300}, "API.INVALID_VALUE"),
        ("concurrency_key/key", {"n": 2}, "API.WRONG_TYPE"),
        ("concurrency_key/n", {"key": "db", "n": 0}, "API.WRONG_TYPE"),
        ("concurrency_key/n", {"key": "db", "n": 3_000_000_000}, "API.WRONG_TYPE"),
        ("concurrency_key/m", {"key": "db", "m": 1}, "API.UNKNOWN_FIELD"),
    ]:
        job = {field.partition("/")[0]: value}
        answer = await http.post("/v1/batches", json={"jobs": [{}, job]})

        assert_problem(answer, 400, code, f"/jobs/1/{field}")


async def test_latest_start_is_the_deadline_without_the_time_limit(
    http: httpx.AsyncClient, admin: asyncpg.Connection
) -> None:
    batch = await create(
        http, {"deadline": f"{LATE}Z", "timeout_s": 90}, {"deadline": f"{LATE}Z", "count": 3}, {}
    )
    rows = await admin.fetch(
        "SELECT first_job, last_job, deadline - latest_start AS time_limit, due_at = latest_start "
        "AS due FROM weft.job_deadline ORDER BY 1"
    )
    jobs = await documents(http, batch)

    assert [tuple(row) for row in rows] == [
        (1, 1, timedelta(seconds=90), True),
        (2, 4, timedelta(0), True),
    ]
    assert [job.get("deadline") for job in jobs] == [*[f"{LATE}Z"] * 4, None]
    assert not any("latest_start" in job for job in jobs)


RATE = {"key": "api", "n": 10, "per_s": 2.0}


async def test_rate_is_shown_as_it_was_sent(http: httpx.AsyncClient) -> None:
    sent = {"jobs": [{"command": ["true"], "rate": RATE}]}
    batch = (await http.post("/v1/batches", json=sent)).json()

    job = (await http.get(f"/v1/batches/{batch['id']}/jobs/1")).json()
    assert job["rate"] == RATE


async def test_rate_of_a_batch_is_shown_and_kept_when_it_is_submitted_again(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    sent = {"jobs": [{"command": ["true"], "count": 3}], "rate": RATE | {"n": 2, "per_s": 60.0}}
    batch = (await http.post("/v1/batches", json=sent)).json()
    claimed = await worker.claim()
    why = (await http.get(f"/v1/batches/{batch['id']}/jobs/3/why")).json()
    again = await http.post(f"/v1/batches/{batch['id']}/resubmit", json={})
    listed = (await http.get("/v1/operations")).json()["items"]

    assert (await http.get(f"/v1/batches/{batch['id']}")).json()["rate"] == sent["rate"]
    assert len(claimed) == 2
    assert "2 of 2 starts in 60 s" in str(why)
    assert again.status_code == 202
    assert [one["kind"] for one in listed] == ["resubmit"]


async def test_queue_says_how_many_of_its_jobs_start_in_a_second(
    http: httpx.AsyncClient, worker: LiveWorker
) -> None:
    queues = [{"name": "slow", "priority": 1, "max_starts_per_s": 1}]
    await http.put("/v1/queues", json={"queues": queues})
    batch = (
        await http.post(
            "/v1/batches", json={"jobs": [{"command": ["true"], "queue": "slow", "count": 2}]}
        )
    ).json()
    claimed = await worker.claim()
    why = (await http.get(f"/v1/batches/{batch['id']}/jobs/2/why")).json()

    assert [one.job_id for one in claimed] == [1]
    assert "1 of 1 starts in 1 s in queue slow" in str(why)
    assert (await http.get("/v1/queues/slow")).json()["max_starts_per_s"] == 1


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
        True,
        False,
        True,
        True,
        True,
        False,
    ]


def test_bucket_that_was_used_last_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "TOKENS_MAX", 2)
    limits = RateLimits(0.1, clock=Clock())
    callers = [Caller(1, 1, "x", token_id=n) for n in (1, 2, 3)]

    assert [limits.take(one).is_allowed for one in (*callers, callers[2], callers[0])] == [
        True,
        True,
        True,
        False,
        True,
    ]


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
        (True, "token", 1),
        (True, "token", 0),
        (False, "token", 0),
        (True, "user", 0),
        (False, "user", 0),
        (True, "token", 1),
    ]
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
        '"token";r=1',
        '"token";r=0',
        '"token";r=0',
    ]
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
    assert (line["log_level"], line["method"], line["status"]) == ("info", "GET", 429), "the first"


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
