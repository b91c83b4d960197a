"""Whose items become jobs next: tenants in turn, however many sources one of them has."""

from store.world import World
from weft.extensions.lines.rules.setup import parse_setup

SOURCES = """
[source.NAME]
kind = "directory"
path = "/data/in"
job = "one"
"""
JOB = """
[job.one]
command = ["true"]
"""
BESIDE = """
WITH other AS (INSERT INTO weft.tenant (name) VALUES ('other') RETURNING tenant_id),
owner AS (INSERT INTO weft.tenant_user (tenant_id, name)
    SELECT tenant_id, 'una' FROM other RETURNING user_id, tenant_id)
INSERT INTO weft.source (tenant_id, name, setup, user_id, billing_project, kind, options, every_s,
    template, next_at)
SELECT o.tenant_id, 'small', 'x', o.user_id, 'default', s.kind, s.options, s.every_s, s.template,
    now()
FROM owner o, weft.source s WHERE s.name = 's0'
"""
TAKE = "SELECT name FROM weft.take_source(limit_rows => 9, lease_s => 60)"
DONE = "UPDATE weft.source SET taken_until = NULL WHERE name = $1"


async def test_tenants_take_turns(own_world: World) -> None:
    world, admin = own_world, own_world.admin
    text = "".join(SOURCES.replace("NAME", f"s{n}") for n in range(3)) + JOB
    await world.api.save_setup(world.caller, "many", text, parse_setup(text))
    await admin.execute(BESIDE)
    # All have a backlog; that of the one tenant is older.
    await admin.execute(
        "UPDATE weft.source SET work_at = now() - CASE WHEN name = 'small' THEN 1 ELSE 9 END "
        "* interval '1 min'"
    )
    taken = []
    for _ in range(6):
        name = await admin.fetchval(TAKE)
        await admin.execute(DONE, name)
        taken.append("one" if name == "small" else "many")

    assert taken in (["many", "one"] * 3, ["one", "many"] * 3)
    await admin.execute("UPDATE weft.source SET work_at = NULL, taken_until = NULL")
