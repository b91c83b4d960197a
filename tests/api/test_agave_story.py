"""What the door for Agave tells of jobs, and its notices, without a server."""

import json
from typing import Any

import pytest

from cases import cases
from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.delivery_retry import NoticePolicy, next_notice_s
from weft_aloe.documents import job_document, summary_document
from weft_aloe.notices import NOTICES
from weft_aloe.notifications import subscriptions_of, wrong_notifications
from weft_aloe.replies import Refused, chosen
from weft_aloe.searching import order_of, sort_key, terms_of
from weft_aloe.story import story_of
from weft_aloe.submissions import read_asked

AT = "2026-11-24T10:00:0{}+00:00"


def attempt(n: int, to: str | None, *, started: bool = True, **more: object) -> dict[str, Any]:
    ends = {} if to is None else {"ended_at": AT.format(n + 2), "to": to}
    begun = AT.format(n + 1) if started else None
    said = {"reason": None, "message": None, "exit_code": None}
    return {"claimed_at": AT.format(n), "started_at": begun, **said, **ends, **more}


def facts(*attempts: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    kept = {
        "name": "A Name",
        "appId": "a-1",
        "systemId": "local",
        "batchQueue": "default",
        "nodeCount": 1,
        "processorsPerNode": 2,
        "memoryPerNode": 0.5,
        "maxRunTime": "01:30:00",
        "inputs": {},
        "parameters": {"say": "x", "API_TOKEN": "t"},
        "archive": True,
        "archiveOnAppError": False,
        "archivePath": "p",
        "archiveSystem": None,
        "asked": {},
    }
    return {
        "batch_id": 7,
        "foreign_id": "i-007",
        "owner": "ann",
        "tenant": "t",
        "hidden": False,
        "state": "ready",
        "created_at": AT.format(0),
        "document": kept,
        "attempts": list(attempts),
        "changes": [],
        "cancelled_at": None,
        "cancel": None,
        **more,
    }


def statuses(found: dict[str, Any]) -> list[str]:
    return [one.status for one in story_of(found).entries]


ENDED = {"ended_at": AT.format(9), "to": "success"}
TAKEN = ["PROCESSING_INPUTS", "STAGING_JOB", "SUBMITTING"]
RUN = [*TAKEN, "QUEUED", "RUNNING"]


def test_story_follows_the_attempts() -> None:
    assert statuses(facts()) == ["PENDING"]
    assert statuses(facts(attempt(1, None, started=False))) == ["PENDING", *TAKEN]
    ends = ["CLEANING_UP", "ARCHIVING", "FINISHED"]
    assert statuses(facts(attempt(1, "success"))) == ["PENDING", *RUN, *ends]
    lost = facts(attempt(1, "ready", reason="lost"), attempt(4, None))
    assert statuses(lost) == ["PENDING", *RUN, "BLOCKED", *RUN]
    assert story_of(lost).n_blocked == 1
    exit_1 = facts(attempt(1, "failed", reason="exit", exit_code=1))
    assert statuses(exit_1)[-2:] == ["CLEANING_UP", "FAILED"]
    kept = {**exit_1["document"], "archiveOnAppError": True, "inputs": {"data": "file:///d"}}
    staged = ["PROCESSING_INPUTS", "STAGING_INPUTS", "STAGED", "STAGING_JOB"]
    assert statuses({**exit_1, "document": kept})[1:5] == staged
    assert statuses({**exit_1, "document": kept})[-3:] == ["CLEANING_UP", "ARCHIVING", "FAILED"]
    lost = facts(attempt(1, "failed", reason="files", message="the store is away"))
    assert statuses(lost)[-2:] == ["ARCHIVING", "FAILED"]
    bad = facts(attempt(1, "error", started=False, reason="bad_spec", message="no."))
    assert statuses(bad) == ["PENDING", *TAKEN, "FAILED"]
    assert story_of(bad).error == "The job failed: bad_spec: no."


def test_archive_is_told_while_it_is_written_and_afterwards_with_the_same_date() -> None:
    seen = attempt(1, None, archiving_at=AT.format(3))
    live, ended = story_of(facts(seen)), story_of(facts(attempt(1, "success") | seen | ENDED))

    assert (live.status, live.remote_ended, live.ended) == ("ARCHIVING", live.entries[-1].at, None)
    assert ended.entries[: len(live.entries)] == live.entries
    assert ended.status == "FINISHED"
    failed = facts(attempt(1, "cancelled") | seen | {**ENDED, "to": "cancelled"})
    assert statuses(failed)[-3:] == ["CLEANING_UP", "ARCHIVING", "STOPPED"]


def test_story_has_events_and_ends_once() -> None:
    changes = [
        {"at": AT.format(1), "actor": "user ann", "kind": "shared", "message": "bob: read"},
        {
            "at": AT.format(5),
            "actor": "user bob",
            "kind": "cancelled",
            "message": None,
            "from": "ready",
            "to": "cancelled",
        },
        {"at": AT.format(6), "actor": "user ann", "kind": "hidden", "message": None},
    ]
    found = facts(changes=changes, cancelled_at=AT.format(5))
    story = story_of(found)
    assert statuses(found) == ["PENDING", "PERMISSION_GRANT", "STOPPED", "DELETED"]
    assert [one.by for one in story.entries] == ["ann", "ann", "bob", "ann"]
    assert (story.status, story.ended) == ("STOPPED", story.entries[2].at)


def test_document_has_both_sets_of_names_and_hides_secrets() -> None:
    document = job_document(facts(attempt(1, "success")), "http://h", ("*TOKEN*",))
    assert (document["systemId"], document["executionSystem"]) == ("local", "local")
    assert (document["maxHours"], document["maxRunTime"]) == (1.5, "01:30:00")
    assert document["parameters"] == {"say": "x", "API_TOKEN": "<masked>"}
    assert (document["archive"], document["started"]) == (True, "2026-11-24T10:00:02Z")
    assert document["remoteOutcome"] == "FINISHED"
    short = summary_document(facts(attempt(1, "success")), "http://h")
    links = {name: document["_links"][name] for name in ("self", "archiveData")}
    assert short == {**{name: document[name] for name in short}, "_links": links}


@cases(
    ("query", "holds"),
    [
        ({"name": "A Name"}, True),
        ({"NAME.like": "A*e"}, True),
        ({"name.nlike": "A*"}, False),
        ({"name.like": "*a*b*"}, False),
        ({"status": "finished"}, True),
        ({"unknown": "x"}, True),
        ({"status.in": "FAILED, FINISHED"}, True),
        ({"status.nin": "FAILED"}, True),
        ({"processorsPerNode.gt": "1"}, True),
        ({"memoryPerNode.lte": "512MB"}, True),
        ({"maxRunTime.lt": "01:00:00"}, False),
        ({"created.on": "2026-11-24"}, True),
        ({"created.before": "2026-11-24"}, False),
        ({"created.after": "1700000000"}, True),
        ({"created.between": "2026-11-23,2026-11-25"}, True),
        ({"runtime": "1"}, True),
        ({"created": "2026-11-24T10:00:00Z"}, True),
        ({"archive": "true"}, True),
        ({"parameters.like": "*say*"}, True),
        ({"walltime.gte": "4"}, False),
        ({"starttime.neq": "2026-11-24T10:00:02Z"}, False),
        ({"localid": "b7.j1"}, True),
    ],
)
def test_search_compares_fields(query: dict[str, str], *, holds: bool) -> None:
    document = job_document(facts(attempt(1, "success")), "http://h", ())
    assert all(one.holds(document) for one in terms_of(list(query.items()))) is holds


@cases(
    ("name", "text"),
    [
        ("status", "GONE"),
        ("nodeCount", "many"),
        ("created.after", "soon"),
        ("name.lt", "x"),
        ("created.between", "2026-11-24"),
        ("name.zz", "x"),
        ("archive", "perhaps"),
        ("nodeCount.gt", "nan"),
        ("memoryPerNode", "1 XB"),
        ("created", "9" * 15),
    ],
)
def test_wrong_searches_are_refused(name: str, text: str) -> None:
    with pytest.raises(Refused) as raised:
        terms_of([(name, text)])
    assert (raised.value.status, name.partition(".")[0].lower() in raised.value.message) == (
        400,
        True,
    )


def test_lists_are_sorted_by_any_field() -> None:
    assert order_of([]) is None
    assert order_of([("sortBy", "created"), ("sort", "desc")]) is None
    assert order_of([("orderBy", "endTime"), ("order", "asc")]) == ("endtime", False)
    documents = [job_document(facts(), "", ()), job_document(facts(attempt(1, "failed")), "", ())]
    assert min(documents, key=sort_key("endtime"))["ended"] is None
    with pytest.raises(Refused):
        order_of([("sortBy", "nothing")])


def test_filter_keeps_what_it_names() -> None:
    document = {"a": {"b": {"c": 1, "d": 2}}, "e": [1]}
    assert chosen(document, "a.b.c, a.b.d,x.y,e") == {"a": {"b": {"c": 1, "d": 2}}, "e": [1]}
    assert chosen([document], "e") == [{"e": [1]}]
    assert chosen(document, "*") is document
    assert document == {"a": {"b": {"c": 1, "d": 2}}, "e": [1]}


@cases(
    ("field", "value"),
    [
        ("name", " "),
        ("name", "x" * 65),
        ("name", 1),
        ("name", "a\0"),
        ("appId", None),
        ("inputs", []),
        ("parameters", "x"),
        ("nodeCount", 0),
        ("nodeCount", True),
        ("processorsPerNode", "2"),
        ("memoryPerNode", "0GB"),
        ("memoryPerNode", True),
        ("memoryPerNode", -1),
        ("maxRunTime", "1h"),
        ("maxRunTime", "00:00:00"),
        ("archive", "yes"),
        ("archivePath", 7),
        ("archiveSystem", "x" * 65),
        ("batchQueue", 7),
        ("executionSystem", "local"),
        ("dependencies", []),
        ("unheard", 1),
        ("batchQueue", "a\0"),
        ("inputs", {"i": "a\0"}),
    ],
)
def test_wrong_submissions_name_the_field(field: str, value: object) -> None:
    with pytest.raises(Refused) as raised:
        read_asked({"name": "n", "appId": "a-1", field: value})
    assert (raised.value.status, field in raised.value.message) == (400, True)


def test_deep_and_large_submissions_are_refused() -> None:
    deep: object = []
    for _ in range(100):
        deep = [deep]
    for value in (deep, "x" * 200_000, {"a\0": 1}):
        with pytest.raises(Refused):
            read_asked({"name": "n", "appId": "a-1", "parameters": {"p": value}})
    with pytest.raises(Refused):
        read_asked([])


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
        "RUNNING.1",
        "BLOCKED.1",
        "PROCESSING_INPUTS.2",
        "STAGING_JOB.2",
        "SUBMITTING.2",
        "QUEUED.2",
        "RUNNING.2",
        "CLEANING_UP.1",
        "ARCHIVING.1",
        "FINISHED.1",
    ]
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
        facts(changes=shared),
        event="PERMISSION_GRANT",
        url=f"{URL}?${{PERMISSION_USERNAME}}=${{PERMISSION_PERMISSION}}&${{EVENT}}",
    )
    assert found.url == f"{URL}?b%26b=READ&PERMISSION_GRANT"
    shared[0]["message"] = "bob: all (WRITE)"
    (found,) = told(facts(changes=shared), event="*", url=f"{URL}?${{PERMISSION_PERMISSION}}")[1:]
    assert found.url == f"{URL}?WRITE"


@cases(
    ("given", "field"),
    [
        ("x", "notifications: "),
        ([1], "notifications[0]: "),
        ([{}], "notifications[0].url: "),
        ([{"url": URL, "event": "GONE"}], "notifications[0].event: "),
        ([{"url": "http://10.0.0.1/", "event": "*"}], "notifications[0].url: "),
        ([{"url": "http://${JOB_NAME}/", "event": "*"}], "notifications[0].url: "),
        ([{"url": f"{URL}?${{NONE}}", "event": "*"}], "notifications[0].url: "),
        ([{"url": "a@b.example", "event": "*"}], "notifications[0].url: "),
        ([{"url": "ftp://127.0.0.1/", "event": "*"}], "notifications[0].url: "),
        ([{"url": URL, "event": "*", "persistent": 1}], "notifications[0].persistent: "),
        ([{"url": URL, "event": "*", "more": 1}], "notifications[0].more: "),
        (
            [{"url": URL, "event": "*", "policy": {"retryLimit": 1441}}],
            "notifications[0].policy.retryLimit: ",
        ),
        (
            [{"url": URL, "event": "*", "policy": {"retryStrategy": "SOME"}}],
            "notifications[0].policy.retryStrategy: ",
        ),
        ([{"url": URL, "event": "*"}] * 3, "notifications: "),
    ],
)
def test_wrong_subscription_is_named(given: object, field: str) -> None:
    (found,) = (
        wrong_notifications(given, 2, LOCAL)
        if given != [{}]
        else (wrong_notifications(given, 2, LOCAL)[:1])
    )
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
