"""Jobs that wait for an answer: who answers them, and with what."""

import asyncio
import re

import httpx
import pytest

from weft.core.access.rights import Permission
from weft.core.errors import AnswerLinkNotFound

FORM = {"type": "object", "properties": {"dose": {"type": "number"}}, "required": ["dose"]}
WAIT = {"for": "approval", "form": FORM, "timeout_s": 3600}


async def submitted(http: httpx.AsyncClient, **job: object) -> httpx.Response:
    child = {"command": ["true"], "parents": ["ask"]}
    return await http.post("/v1/batches", json={"jobs": [{"name": "ask", **job}, child]})


async def test_an_answer_fits_the_form_and_comes_once(http: httpx.AsyncClient) -> None:
    assert (await submitted(http, wait=WAIT)).status_code == 201
    at = "/v1/batches/1/jobs/1"
    assert (await http.get(f"{at}/why")).json()["causes"][0] == {
        "kind": "wait",
        "text": "waits for an approval",
        "command": "weft answer b1.j1",
        "job_id": None,
    }
    for values, pointer in [({"dose": "2"}, "/values/dose"), ({}, "/values")]:
        wrong = await http.post(f"{at}/answer", json={"values": values})
        assert wrong.status_code == 400, wrong.text
        assert [one["pointer"] for one in wrong.json()["errors"]] == [pointer]
    good = await http.post(f"{at}/answer", json={"values": {"dose": 2.5}, "note": "seen"})
    assert good.json() == {"batch_id": 1, "job_id": 1, "state": "success"}
    job = (await http.get(at)).json()
    assert (job["answer"]["values"], job["answer"]["note"]) == ({"dose": 2.5}, "seen")
    again = await http.post(f"{at}/answer", json={"approve": False})
    assert (again.status_code, again.json()["code"]) == (409, "API.NOT_WAITING")


async def test_wrong_forms_are_refused(http: httpx.AsyncClient) -> None:
    date = {"for": "date", "until": "2027-01-01T00:00:00Z"}
    for wait, pointer in (
        ({"for": "event", "form": {"type": 3}}, "/wait/form"),
        ({"for": "event", "form": {"$ref": "http://a/b"}}, "/wait/form"),
        ({"for": "event", "form": {"x": "x" * 70_000}}, "/wait/form"),
        ({**date, "form": {}}, "/wait"),
        ({"for": "event", "on_timeout": "succeed"}, "/wait/timeout_s"),
    ):
        refused = await submitted(http, wait=wait)
        assert refused.status_code == 400, refused.text
        assert f"/jobs/0{pointer}" in [one["pointer"] for one in refused.json()["errors"]]


async def test_the_form_of_a_job_is_filled_in_on_its_page(
    browser: httpx.AsyncClient, http: httpx.AsyncClient
) -> None:
    """What does not fit is told at its field, and what was typed stays there."""
    properties = {
        "dose": {"type": "number"},
        "why": {"enum": ["a<b", 2]},
        "sure": {"type": "boolean"},
        "more": {"type": "array"},
        'x"><b>': {"type": "string", "title": "<script>2"},
    }
    form = {"title": "<script>1", "properties": properties, "required": ["dose"]}
    await submitted(http, wait={"for": "event", "form": form})
    path = "/ui/batches/1/jobs/1"
    assert f'href="{path}/answer"' in (await browser.get(path)).text
    page = await browser.get(f"{path}/answer")
    assert "<script>1" not in page.text
    assert "<script>2" not in page.text
    assert 'name="v.x&#34;&gt;&lt;b&gt;"' in page.text
    (token,) = set(re.findall(r'name="csrf_token" value="([0-9a-f]+)"', page.text))
    values = {
        "v.dose": "2.5",
        "v.why": '"a<b"',
        "v.sure": "true",
        'v.x"><b>': "<i>",
        "v.more": "[1]",
    }

    async def press(**fields: str) -> httpx.Response:
        said = {"csrf_token": token, "approve": "yes", **values, **fields}
        return await browser.post(f"{path}/answer", data=said)

    for name, text, why in (
        ("v.dose", "much<", "&#34;much&lt;&#34; is not of type"),
        ("v.more", "[1", "is not of type"),
        ("v.dose", "", "required"),
        ("note", "x" * 1001, "more than 1000 characters"),
        ("note", "\0", "NUL"),
        ("v.why", "3", "is not one of"),
        ("approve", "", "say `yes`"),
    ):
        wrong = await press(**{name: text})
        assert (wrong.status_code, why in wrong.text) == (400, True), (
            name,
            re.findall("role=.alert.*", wrong.text),
        )
        assert 'value="&lt;i&gt;"' in wrong.text
    assert (await press(csrf_token="0")).status_code == 403
    done = await press(note="seen")
    assert (done.status_code, done.headers["location"]) == (303, path)
    answer = (await http.get("/v1/batches/1/jobs/1")).json()["answer"]
    assert answer["values"] == {
        "dose": 2.5,
        "why": "a<b",
        "sure": True,
        'x"><b>': "<i>",
        "more": [1],
    }
    assert (await press(approve="no")).status_code == 409
    assert "waits for no answer" in (await browser.get(f"{path}/answer")).text


async def test_a_link_answers_its_job_alone_and_once(http: httpx.AsyncClient) -> None:
    """Whoever has it needs no login; it is no token for anything else."""
    for _ in range(2):
        await submitted(http, wait=WAIT)
    links = "/v1/batches/1/jobs/1/answer-links"
    made, other = [(await http.post(links, json={})).json() for _ in range(2)]
    code = made["url"].partition("?code=")[2]
    anybody = {"authorization": "", "origin": ""}

    async def press(code: str, **fields: str) -> httpx.Response:
        said = {"code": code, "approve": "yes", **fields}
        return await http.post("/ui/answer", data=said, headers=anybody)

    async def show(code: str) -> httpx.Response:
        return await http.get("/ui/answer", params={"code": code}, headers=anybody)

    for forged in (code.replace("b1.", "b2."), code[:-1] + "\N{SNOWMAN}", "b1.j1.", "x" * 9000):
        for refused in (await show(forged), await press(forged)):
            assert refused.status_code == AnswerLinkNotFound.status
    bearer = {"authorization": f"Bearer {code}"}
    assert (await http.get("/v1/batches/1", headers=bearer)).status_code == 401
    assert 'name="v.dose"' in (await show(code)).text
    wrong = await press(code, **{"v.dose": "much"})
    assert (wrong.status_code, "much" in wrong.text) == (400, True)
    late = other["url"].partition("?code=")[2]
    tabs = [press(one, **{"v.dose": f"{n}"}) for n, one in enumerate((code, code, late))]
    done, *others = sorted(await asyncio.gather(*tabs), key=lambda answer: answer.status_code)
    assert (done.status_code, "It is answered" in done.text) == (200, True)
    assert {answer.status_code for answer in others} <= {404, 409}
    for spent in (code, late):
        assert (await show(spent)).status_code == (await press(spent)).status_code == 404
    assert (await http.get("/v1/tokens")).json()["items"][1:] == []
    by = (await http.get("/v1/batches/1/jobs/1")).json()["answer"]["by"]
    assert by == "user tester, by a link"
    for job in (1, 2):
        refused = await http.post(f"/v1/batches/1/jobs/{job}/answer-links", json={})
        assert refused.status_code == 409
    assert (await http.post(links, json={"valid_s": 0})).status_code == 400
    ended = (await http.post("/v1/batches/2/jobs/1/answer-links", json={})).json()
    await http.post("/v1/batches/2/jobs/1/answer", json={"approve": False})
    assert (await show(ended["url"].partition("?code=")[2])).status_code == 404
    jobs = [{"command": ["true"]}, {"wait": WAIT, "parents": [1]}]
    await http.post("/v1/batches", json={"jobs": jobs})
    soon = (await http.post("/v1/batches/3/jobs/2/answer-links", json={})).json()
    early = soon["url"].partition("?code=")[2]
    assert "waits for no answer yet" in (await show(early)).text
    assert (await press(early, approve="no")).status_code == 409
    await submitted(http, wait=WAIT)
    revoked = (await http.post("/v1/batches/4/jobs/1/answer-links", json={})).json()
    await http.delete(f"/v1/tokens/{revoked['token_id']}")
    assert (await show(revoked["url"].partition("?code=")[2])).status_code == 404


@pytest.mark.parametrize("shared", ["/v1/batches/{b}", "/v1/batches/{b}/jobs/1"])
@pytest.mark.parametrize("permission", [None, *Permission], ids=str)
async def test_a_link_may_what_an_answer_may(
    http: httpx.AsyncClient, shared: str, permission: Permission | None
) -> None:
    """Whatever was granted, on the batch or on the job, and whatever is taken back later."""
    bob = (await http.post("/v1/users", json={"name": "bob"})).json()["token"]
    as_bob, anybody = {"authorization": f"Bearer {bob}"}, {"authorization": "", "origin": ""}
    await http.post("/v1/billing-projects", json={"name": "own"})
    approval = {"jobs": [{"name": "ask", "wait": {"for": "approval"}}], "billing_project": "own"}
    batches = [(await http.post("/v1/batches", json=approval)).json()["batch_id"] for _ in "123"]
    granted = [f"{shared.format(b=batch)}/permissions/bob" for batch in batches]

    async def grant(at: str, may: Permission | None) -> None:
        if may is not None:
            asked = await http.put(at, json={"permission": may.name.lower()})
            assert asked.status_code == 200, asked.text

    async def link_of(batch: int) -> str | None:
        made = await http.post(f"/v1/batches/{batch}/jobs/1/answer-links", json={}, headers=as_bob)
        return made.json().get("url", "").partition("?code=")[2] or None

    async def press(code: str | None) -> int:
        said = {"code": code or "", "approve": "yes"}
        return (await http.post("/ui/answer", data=said, headers=anybody)).status_code

    for at in granted:
        await grant(at, permission)
    answer = await http.post(f"/v1/batches/{batches[0]}/jobs/1/answer", json={}, headers=as_bob)
    may = permission is not None and permission >= Permission.EXECUTE
    assert (answer.status_code == 200) == may
    linked, lowered = await link_of(batches[1]), await link_of(batches[2])
    assert (linked is not None, lowered is not None) == (may, may)
    assert (await press(linked) == 200) == may
    await grant(granted[2], Permission.READ)
    assert await press(lowered) in {403, 404}
