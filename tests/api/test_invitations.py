"""Invitations of workers: each counts once, for one worker, which gets a token of its own."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from api.live import add, trail
from api.test_link_keys import middle
from api.test_worker_link import Outside, facts, outside
from middle import Middle
from weft.client.http.address import parse_url
from weft.client.http.invitation import Invitation, MalformedInvitation, WrongPin, pin_of
from weft.client.http.session import NotReachable
from weft.core.errors import Forbidden, InvitationRefused
from weft.run.home import HomeNotUsable
from weft.settings import InvalidSetting, load_settings
from weft_link.joining import join

__all__ = ["middle", "outside"]


async def invite(outside: Outside, **terms: Any) -> str:  # noqa: ANN401 (as the document)
    return (await outside.token(once=True, **{"valid_s": 60, **terms})).read_text()


async def test_an_invitation_gives_one_worker_a_token_of_its_name(
    outside: Outside, database: dict[str, str]
) -> None:
    http, invitation = outside.http, await invite(outside)
    assert f'"token_id":{outside.token_id},' in (await http.get("/v1/tokens")).text
    itself = await http.get("/v1/whoami", headers={"authorization": f"Bearer {invitation}"})
    assert itself.status_code == 401

    async def ask(text: str, key: str = "k", worker: str = "node[1]") -> Any:  # noqa: ANN401 (an answer)
        document, of = {"invitation": text, "worker": worker}, {"idempotency-key": key}
        return await http.post(
            "/v1/worker-link/join", json=document, headers={"authorization": "", **of}
        )

    both = await asyncio.gather(ask(invitation, "k1"), ask(invitation, "k2"))
    first, second = sorted(both, key=lambda answer: int(answer.status_code))
    assert (first.status_code, first.json()["pool"]) == (200, "default")
    assert (second.status_code, second.json()["code"]) == (401, "API.INVITATION_REFUSED")
    assert second.json()["detail"] == 'The worker "node[1]" has used it.'
    key, lost = f"k{1 + both.index(first)}", first.json()["token"]  # its reply may have been lost
    assert (await ask(invitation, key, "node2")).status_code == 401
    first = await ask(invitation, key)
    (file := outside.path / "own").touch(0o600)
    file.write_text(first.json()["token"])
    store = outside.store(outside.caller(file))
    assert (await store.register_worker(**facts(name="node[1]"))).incarnation_id
    lost = {"authorization": f"Bearer {lost}"}
    assert (await http.get("/v1/whoami", headers=lost)).status_code == 401
    assert (await ask(invitation, key)).json()["code"] == "WORKER.NAME_TAKEN"
    again = (await ask(await invite(outside))).json()
    assert (again["code"], again["hint"]) == (
        "WORKER.NAME_TAKEN",
        "Add `--worker-name NAME` to the line: the invitation was not used.",
    )
    with pytest.raises(Forbidden):
        await store.register_worker(**facts(name="node1", incarnation="other"))
    expired = await invite(outside, valid_s=0.001)
    assert "has expired" in (await ask(expired)).json()["detail"]
    revoked = await invite(outside)
    await http.delete(f"/v1/tokens/{outside.token_id}")
    assert "does not know it" in (await ask(revoked)).json()["detail"]
    bob = await add(http, "bob", role="operator")
    document = {"name": "o", "scopes": ["work"], "pool": "default", "once": True, "valid_s": 9}
    assert (await http.post("/v1/tokens", json=document, headers=bob)).status_code == 403
    said = [
        (one["user"], one["refused"])
        for one in await trail(http, database)
        if one["action"] == "join_worker"
    ]
    assert said[0] == ("tester", None)
    assert {refused for _, refused in said} == {None, "API.INVITATION_REFUSED"}


async def test_a_machine_joins_the_server_of_the_pin_and_no_other(
    outside: Outside, middle: Middle, tmp_path: Path
) -> None:
    endpoint = parse_url(f"https://127.0.0.1:{middle.port}", None)
    pin = await pin_of(endpoint._replace(ca_file=tmp_path / "ca.pem"))
    invitation = Invitation(endpoint, await invite(outside), pin)
    home = tmp_path / "far"

    async def joined(word: str, home: Path = home) -> None:
        settings = load_settings({"home": home, "worker_name": "node1"}, {})
        await asyncio.to_thread(join, word, settings)

    (servers := tmp_path / "other").mkdir()
    (servers / "client.json").touch()
    for wrong, word, where in (
        (WrongPin, invitation._replace(pin="0" * 64).word, home),
        (NotReachable, invitation._replace(endpoint=endpoint._replace(port=1)).word, home),
        (MalformedInvitation, invitation.word[:-1], home),
        (MalformedInvitation, invitation._replace(pin="").word, home),
        (InvalidSetting, f"http://far.example#{invitation.token}", home),
        (HomeNotUsable, invitation.word, servers),
    ):
        with pytest.raises(wrong):
            await joined(word, where)
    middle.passes_max = 20
    with pytest.raises(NotReachable):
        await joined(invitation.word)
    await joined(invitation.word)
    known = load_settings({"home": home}, {})
    assert (known.connect, known.pool, known.worker_name) == (endpoint.url, "default", "node1")
    assert known.connect_cert_file == home / "api.pem"
    assert {one.stat().st_mode & 0o777 for one in home.iterdir() if one.is_file()} == {0o600}
    with pytest.raises(InvitationRefused) as refused:
        await joined(invitation.word)
    assert f"`weft worker --home {home}`" in refused.value.hint
