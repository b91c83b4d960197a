"""`weft worker --join`: an invitation becomes the settings of a worker, in a home of its own."""

import asyncio
import json

import msgspec

from weft.client.http.invitation import Invitation, pin_of, read_invitation
from weft.client.http.session import HttpSession, NotTheServer
from weft.core.access.token_text import new_token
from weft.core.bounded import read_json
from weft.core.errors import InvitationRefused
from weft.run.home import Home, HomeNotUsable, write_private
from weft.run.host.worker_name import worker_name
from weft.settings import Settings
from weft.wire.documents.tokens import JoinDocument


def join(word: str, settings: Settings) -> None:
    """Exchange the invitation, and write what the worker reads at each start. Raise
    `MalformedInvitation`, `WrongPin`, `NotReachable`, `InvitationRefused`, `HomeNotUsable`.
    """
    invitation, home = read_invitation(word), Home(settings.home)
    if home.client_file.exists() or settings.connect not in (None, invitation.endpoint.url):
        raise HomeNotUsable(
            f"{home.path} is not the home of a worker of {invitation.endpoint.url}",
            detail="It is that of a server, or of a worker that connects to another one.",
            hint="Name another directory with --home. The invitation was not used.",
        )
    home.prepare()
    asyncio.run(_join(invitation, settings, home))


async def _join(invitation: Invitation, settings: Settings, home: Home) -> None:
    endpoint = invitation.endpoint._replace(ca_file=settings.ca_file)
    token_file, cert_file = home.path / "worker.token", home.path / "api.pem"
    if not (key_file := home.path / "join.key").exists():
        write_private(key_file, new_token())  # a join whose reply is lost may be repeated with it
    known = {"connect": endpoint.url, "token_file": str(token_file)}
    if invitation.pin:
        write_private(cert_file, await invitation.certificate())
        try:
            await pin_of(endpoint)  # it may be renewed, then
        except NotTheServer:
            known["connect_cert_file"] = str(cert_file)
        endpoint = endpoint._replace(cert_file=cert_file)
    name = worker_name(settings)
    session = HttpSession(endpoint, patience_s=0)
    document = JoinDocument(invitation.token, name)
    try:
        answer = await session.request(
            "POST",
            "/v1/worker-link/join",
            body=msgspec.json.encode(document),
            key=key_file.read_text(),
        )
    except InvitationRefused as error:
        if token_file.exists():
            error.hint = f"If it was this machine, start it: `weft worker --home {home.path}`."
        raise
    finally:
        session.close()
    joined = read_json(answer, dict[str, str])
    write_private(token_file, joined["token"])
    if not (file := home.path / "weft.toml").exists():
        known |= {"pool": joined["pool"], "worker_name": name}
        write_private(
            file, "".join(f"{key} = {json.dumps(text)}\n" for key, text in known.items())
        )
    key_file.unlink()
