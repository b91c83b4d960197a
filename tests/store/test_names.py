"""Names are unique without regard to case, as Unicode has it, whatever the server's locale."""

import sys
import unicodedata
from dataclasses import replace
from uuid import uuid4

import pytest

from store.world import World
from weft.core.access.rights import UserRole
from weft.core.errors import ProjectExists, TenantExists, UserExists
from weft.core.text.texts import folded_name

_SAME = [
    ("οδος", "ΟΔΟΣ"),
    ("straße", "STRASSE"),
    ("ÅSE", "a\u030ase"),
    ("\u212a", "k"),
    ("ﬁ", "FI"),
]
_OTHER = [("ada", "adá"), ("ı", "i"), ("α", "a")]
_TABLE = unicodedata if unicodedata.unidata_version == "14.0.0" else unicodedata.ucd_3_2_0
"""Of which all characters have a key. A newer Python knows more of them than the migration."""


@pytest.mark.slow
async def test_keys_are_those_of_unicode(world: World) -> None:
    """Each character alone and within a word; PostgreSQL has no text with NUL or surrogates."""
    characters = [
        chr(n)
        for n in range(1, sys.maxunicode + 1)
        if _TABLE.category(chr(n)) not in {"Cn", "Cs", "Co"}
    ]
    keys = await world.admin.fetchval(
        "SELECT array_agg(weft._name_key(n) ORDER BY i) FROM unnest($1::text[]) WITH ORDINALITY "
        "u (n, i)",
        characters,
    )

    wrong = [(c, key) for c, key in zip(characters, keys, strict=True) if key != folded_name(c)]
    assert len(characters) > 90_000
    assert wrong == []


@pytest.mark.parametrize(("first", "second"), _SAME)
async def test_names_that_differ_only_in_case_are_one(
    world: World, first: str, second: str
) -> None:
    api, admin = world.api, replace(world.caller, role=UserRole.ADMIN)
    await world.admin.execute("UPDATE weft.tenant_user SET role = 'admin'")
    mark = uuid4().hex
    await api.add_user(admin, first, UserRole.USER, uuid4().hex)
    await api.create_project(admin, first, cost_max=None)
    await api.create_tenant(admin, first + mark, admin="ann", token=uuid4().hex)

    with pytest.raises(UserExists):
        await api.add_user(admin, second, UserRole.USER, uuid4().hex)
    with pytest.raises(ProjectExists):
        await api.create_project(admin, second, cost_max=None)
    with pytest.raises(TenantExists):
        await api.create_tenant(admin, second + mark, admin="ann", token=uuid4().hex)
    (project,) = await api.list_projects(admin, second)
    assert project["name"] == first


@pytest.mark.parametrize(("first", "second"), _OTHER)
async def test_other_names_are_two(world: World, first: str, second: str) -> None:
    for name in (first, second):
        await world.api.create_project(world.caller, name, cost_max=None)

    for name in (first, second):
        (project,) = await world.api.list_projects(world.caller, name)
        assert project["name"] == name


async def test_issuer_that_tells_names_apart_admits_no_other_user(world: World) -> None:
    """At an issuer, straße and strasse may be two people."""
    tenant = await world.api.tenant_name(world.caller)
    first = await world.api.admit_user(tenant, "straße", None, may_create=True)
    other = await world.api.admit_user(tenant, "strasse", None, may_create=True)

    assert first is not None
    assert other is None
