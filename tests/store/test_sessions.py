"""Sessions of browsers, and the codes that open them: how they begin and end."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from store.site import Site
from weft.core.access.rights import Right, UserRole
from weft.core.errors import Unauthenticated
from weft.ports.store import Caller


async def open_session(
    site: Site, code: str, session: str, *, at_most: int = 100
) -> Caller | None:
    return await site.api.open_session(
        code, session, browser="Firefox", address="192.0.2.7", valid_s=60, sessions_max=at_most
    )


async def log_in(site: Site, caller: Caller, *, at_most: int = 100) -> tuple[str, Caller]:
    code, session = uuid4().hex, uuid4().hex
    await site.api.create_login_code(caller, code, valid_s=300, session_s=None)
    found = await open_session(site, code, session, at_most=at_most)
    assert found is not None
    return session, found


async def new_token(site: Site, by: Caller) -> tuple[str, Caller]:
    token = uuid4().hex
    await site.api.create_token(by, token, name="t", scopes=None, valid_s=None, tokens_max=1000)
    holder = await site.api.authenticate(token)
    assert holder is not None
    return token, holder


async def test_code_opens_one_session_of_its_user(site: Site) -> None:
    """Once, also if several browsers are equally quick; neither code nor session is a token,
    and no token is a session.
    """
    api, caller = site.api, site.caller
    code, sessions = uuid4().hex, [uuid4().hex for _ in range(4)]
    await api.create_login_code(caller, code, valid_s=300, session_s=None)
    assert await api.authenticate(code) is None
    assert await api.authenticate_session(code) is None
    found = await asyncio.gather(*(open_session(site, code, one) for one in sessions))
    (won,) = [one for one in zip(sessions, found, strict=True) if one[1] is not None]
    assert won[1] is not None
    assert (won[1].user_id, won[1].role) == (caller.user_id, caller.role)
    assert await api.authenticate_session(won[0]) == won[1]
    assert await api.authenticate(won[0]) is None
    for one in sessions:
        assert one == won[0] or await api.authenticate_session(one) is None
    token = uuid4().hex
    await api.create_token(caller, token, name="ci", scopes=None, valid_s=None, tokens_max=1000)
    assert await api.authenticate_session(token) is None
    assert await open_session(site, token, uuid4().hex) is None


async def test_code_ends_by_time_and_by_the_next_one(site: Site) -> None:
    """So that no old link lies about that still works."""
    api, caller = site.api, site.caller
    first, second, expired = uuid4().hex, uuid4().hex, uuid4().hex
    await api.create_login_code(caller, first, valid_s=300, session_s=None)
    expires_at = await api.create_login_code(caller, second, valid_s=300, session_s=None)
    assert expires_at.tzinfo is not None
    assert await open_session(site, first, uuid4().hex) is None
    assert await open_session(site, second, uuid4().hex) is not None
    await api.create_login_code(caller, expired, valid_s=-1, session_s=None)
    assert await open_session(site, expired, uuid4().hex) is None


async def test_session_may_do_no_more_than_the_token_that_asked(site: Site) -> None:
    """Nor does it last longer than that, or than was asked for."""
    api, caller = site.api, site.caller
    token, code, session = uuid4().hex, uuid4().hex, uuid4().hex
    await api.create_token(
        caller, token, name="a", scopes={Right.READ}, valid_s=30, tokens_max=1000
    )
    holder = await api.authenticate(token)
    assert holder is not None
    await api.create_login_code(holder, code, valid_s=300, session_s=None)
    found = await open_session(site, code, session)
    assert found is not None
    assert found.scopes == frozenset({Right.READ})
    tokens = {one["token_id"]: one for one in await api.list_tokens(caller)}
    sessions = {one["session_id"]: one for one in await api.list_sessions(caller)}
    assert sessions[found.token_id]["expires_at"] == tokens[holder.token_id]["expires_at"]
    code = uuid4().hex
    await api.create_login_code(caller, code, valid_s=300, session_s=0)
    assert await open_session(site, code, uuid4().hex) is None


async def test_sessions_are_listed_and_ended_by_their_user_only(site: Site) -> None:
    """One, or all with the code; the oldest ones go beyond a limit."""
    api, caller, stranger = site.api, site.caller, site.stranger
    await api.end_sessions(caller)
    (first, one), (second, two), (third, three) = [
        await log_in(site, caller, at_most=2) for _ in range(3)
    ]
    assert await api.authenticate_session(first) is None
    listed = await api.list_sessions(caller)
    assert [found["session_id"] for found in listed] == [two.token_id, three.token_id]
    assert (listed[0]["browser"], listed[0]["address"]) == ("Firefox", "192.0.2.7")
    assert two.token_id not in [found["token_id"] for found in await api.list_tokens(caller)]
    token = uuid4().hex
    await api.add_user(caller, f"c{token}", UserRole.USER, token)
    colleague = await api.authenticate(token)
    assert colleague is not None
    for other in (stranger, colleague):
        assert await api.list_sessions(other) == []
        assert await api.end_sessions(other, two.token_id) == 0
        assert await api.end_sessions(other) == 0
    assert not await api.revoke_token(caller, two.token_id)
    assert await api.authenticate_session(second) == replace(two)
    assert await api.end_sessions(caller, two.token_id) == 1
    assert await api.end_sessions(caller, one.token_id) == 0
    assert await api.authenticate_session(second) is None
    code = uuid4().hex
    await api.create_login_code(caller, code, valid_s=300, session_s=None)
    assert await api.end_sessions(caller) == 1
    assert await api.authenticate_session(third) is None
    assert await open_session(site, code, uuid4().hex) is None


async def test_session_ends_with_the_token_that_asked(site: Site) -> None:
    """So do its code, and a token or session that it has made, and what these make; no token
    that a token has made.
    """
    api, caller, code = site.api, site.caller, uuid4().hex
    _, holder = await new_token(site, caller)
    kept, _ = await new_token(site, holder)
    session, browser = await log_in(site, holder)
    token, made = await new_token(site, browser)
    (second, _), (third, _) = await new_token(site, made), await log_in(site, browser)
    await api.create_login_code(made, code, valid_s=300, session_s=None)
    assert await api.authenticate_code(code) is not None
    assert await api.revoke_token(caller, holder.token_id)
    assert [await api.authenticate(one) for one in (token, second)] == [None] * 2
    assert [await api.authenticate_session(one) for one in (session, third)] == [None] * 2
    assert await api.authenticate_code(code) is None
    assert await open_session(site, code, uuid4().hex) is None
    assert await api.authenticate(kept) is not None
    for gone in (holder, browser, made):
        with pytest.raises(Unauthenticated):
            await api.create_login_code(gone, code, valid_s=300, session_s=None)
        with pytest.raises(Unauthenticated):
            await new_token(site, gone)


async def test_what_a_session_made_ends_with_it(site: Site) -> None:
    """Whether it is ended, all are, or it is one too many."""
    api, caller = site.api, site.caller
    await api.end_sessions(caller)
    for n in range(3):
        _, browser = await log_in(site, caller)
        token, _ = await new_token(site, browser)
        if n == 0:
            assert await api.end_sessions(caller, browser.token_id) == 1
        elif n == 1:
            assert await api.end_sessions(caller) == 1
        else:
            await log_in(site, caller, at_most=1)
        assert await api.authenticate(token) is None
