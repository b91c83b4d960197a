"""What subscriptions of Agave ask for, and what they are told, without a server."""

import json
from typing import Any

from api.test_agave_story import AT, attempt, facts
from cases import cases
from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.delivery_retry import NoticePolicy, next_notice_s
from weft.extensions.doors.aloe.notices import NOTICES
from weft.extensions.doors.aloe.notifications import subscriptions_of, wrong_notifications

LOCAL = parse_allowed_hosts("127.0.0.1")
URL = "http://127.0.0.1:8080/x"


def told(found: dict[str, Any], *keys: str, event: str = "*", url: str = URL) -> list[Any]:
    asked = {"id": 7, "url": url, "event": event, "keys": list(keys)}
    return list(NOTICES.notices(found, [asked], ("*TOKEN*",)))


def test_each_entry_of_the_history_is_told_once_as_it_was() -> None:
    lost = facts(attempt(1, "ready", reason="lost"), attempt(4, "success"))
    keys = [one.key for one in told(lost)]
    assert keys[:2] == ["PENDING.1", "PROCESSING_INPUTS.1"]
    assert keys[5:] == [
        "RUNNING.1", "BLOCKED.1", "PROCESSING_INPUTS.2", "STAGING_JOB.2", "SUBMITTING.2",
        "QUEUED.2", "RUNNING.2", "CLEANING_UP.1", "ARCHIVING.1", "FINISHED.1",
    ]  # fmt: skip
    documents = {one.key: json.loads(one.body) for one in told(lost)}
    assert documents["PENDING.1"]["submitTime"] is None
    assert documents["RUNNING.1"]["status"] == "RUNNING"
    assert documents["RUNNING.1"]["startTime"] == "2026-11-24T10:00:02Z"
    assert (documents["RUNNING.2"]["ended"], documents["RUNNING.2"]["blockedCount"]) == (None, 1)
    assert documents["FINISHED.1"]["parameters"]["API_TOKEN"] == "<masked>"
    assert [one.key for one in told(lost, *keys[:-1])] == ["FINISHED.1"]
    assert [one.key for one in told(lost, event="RUNNING")] == ["RUNNING.1", "RUNNING.2"]


def test_variables_are_filled_in_and_encoded() -> None:
    bad = facts(attempt(1, "failed", reason="exit", exit_code=3))
    url = f"{URL}?s=${{JOB_STATUS}}&n=${{JOB_NAME}}&e=${{JOB_ERROR}}&u=${{PERMISSION_USERNAME}}"
    (found,) = told(bad, event="FAILED", url=url)
    why = "The%20job%20failed%3A%20the%20application%20ended%20with%20exit%20code%203."
    assert found.url == f"{URL}?s=FAILED&n=A%20Name&e={why}&u="
    shared = [{"at": AT.format(1), "actor": "user ann", "kind": "shared", "message": "b&b: read"}]
    (found,) = told(
        facts(changes=shared), event="PERMISSION_GRANT",
        url=f"{URL}?${{PERMISSION_USERNAME}}=${{PERMISSION_PERMISSION}}&${{EVENT}}",
    )  # fmt: skip
    assert found.url == f"{URL}?b%26b=READ&PERMISSION_GRANT"
    shared[0]["message"] = "bob: all (WRITE)"
    (found,) = told(
        facts(changes=shared), event="*", url=f"{URL}?${{PERMISSION_PERMISSION}}"
    )[1:]  # fmt: skip
    assert found.url == f"{URL}?WRITE"


@cases(
    ("given", "field"),
    [
        ("x", "notifications: "), ([1], "notifications[0]: "), ([{}], "notifications[0].url: "),
        ([{"url": URL, "event": "GONE"}], "notifications[0].event: "),
        ([{"url": "http://10.0.0.1/", "event": "*"}], "notifications[0].url: "),
        ([{"url": "http://${JOB_NAME}/", "event": "*"}], "notifications[0].url: "),
        ([{"url": f"{URL}?${{NONE}}", "event": "*"}], "notifications[0].url: "),
        ([{"url": "a@b.example", "event": "*"}], "notifications[0].url: "),
        ([{"url": "ftp://127.0.0.1/", "event": "*"}], "notifications[0].url: "),
        ([{"url": URL, "event": "*", "persistent": 1}], "notifications[0].persistent: "),
        ([{"url": URL, "event": "*", "more": 1}], "notifications[0].more: "),
        ([{"url": URL, "event": "*", "policy": {"retryLimit": 1441}}],
         "notifications[0].policy.retryLimit: "),
        ([{"url": URL, "event": "*", "policy": {"retryStrategy": "SOME"}}],
         "notifications[0].policy.retryStrategy: "),
        ([{"url": URL, "event": "*"}] * 3, "notifications: "),
    ],
)  # fmt: skip
def test_wrong_subscription_is_named(given: object, field: str) -> None:
    (found,) = wrong_notifications(given, 2, LOCAL) if given != [{}] else (
        wrong_notifications(given, 2, LOCAL)[:1]
    )  # fmt: skip
    assert found.startswith(field)


def test_subscriptions_are_kept_with_their_policies() -> None:
    policy = {"retryStrategy": "Delayed", "retryLimit": 3, "retryRate": 7, "saveOnFailure": True}
    login = "http://me:secret@127.0.0.1/"
    asked: list[dict[str, Any]] = [
        {"url": login, "event": "killed", "policy": policy},
        {"url": URL, "event": "*"},
    ]
    assert wrong_notifications(asked, 2, LOCAL) == []
    first, second = subscriptions_of(asked)
    assert (first["event"], first["persistent"], first["url"]) == ("STOPPED", False, login)
    assert first["policy"] == {"strategy": "delayed", "retries": 3, "pause_s": 7}
    assert (second["event"], second["policy"]) == ("*", {})
    assert first["name"] != second["name"]


def test_mail_goes_where_the_operator_lets_it() -> None:
    asked: list[dict[str, Any]] = [{"url": "Jane@Example.org", "event": "FINISHED"}]
    assert wrong_notifications(asked, 2, LOCAL, frozenset({"*"})) == []
    assert subscriptions_of(asked)[0]["url"] == "mailto:Jane@example.org"
    for domains, why in ((None, "sends no e-mail"), (frozenset({"b.example"}), "mail_domains")):
        (found,) = wrong_notifications(asked, 2, LOCAL, domains)
        assert found.startswith("notifications[0].url: ")
        assert why in found


def test_mail_says_what_happened() -> None:
    bad = facts(attempt(1, "failed", reason="exit", exit_code=3))
    (found,) = told(bad, event="FAILED", url="mailto:a@b.example")
    subject, text = NOTICES.mail(found.body.encode())

    assert (found.url, subject) == ("mailto:a@b.example", "Job A Name is FAILED")
    assert "ended with exit code 3" in text
    assert "/jobs/v2/" in text


def test_policies_say_when_it_is_tried_again() -> None:
    def waits(**policy: Any) -> list[float | None]:  # noqa: ANN401 (fields)
        return [next_notice_s(NoticePolicy(**policy), n) for n in (1, 2, 3)]

    assert waits(strategy="none") == [None, None, None]
    assert waits(retries=2) == [0.0, 5.0, None]
    assert waits(strategy="delayed", delay_s=3, pause_s=1) == [3, 1, 1]
    assert waits(strategy="exponential", delay_s=1, pause_s=2) == [3, 5, 9]
    assert waits(retries=0) == [None, None, None]
