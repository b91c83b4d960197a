"""A change that is asked for again is not made again: the reply to the first request may have been
lost. Each route that changes something is sent a sound request twice.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from api.full_tenant import FullTenant, fill
from api.live import Dsns, LiveApi
from benches.route_changes import DOES_IT_AGAIN, NOT_SENT, WAITING, changes, request_for
from weft.core.access.rights import Right
from weft.run.doors import api_doors

LIVE_DOORS = api_doors()
Rows = Mapping[str, tuple[int, str]]
MOVING = {"generation", "version", "judged_version", "sealed", "next_update", "next_group"}
"""Columns that say how often something was set, or are sealed anew."""
_COLUMNS = """
    SELECT c.relname, array_agg(quote_ident(a.attname)) FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind IN ('r', 'p')
        AND NOT c.relispartition AND c.relname NOT LIKE 'trail%'
        AND a.atttypid <> 'timestamptz'::regtype AND a.attname <> ALL ($1)
    GROUP BY 1
"""
_ROWS = """
    SELECT '{0}', count(*), md5(coalesce(string_agg(t, '' ORDER BY t), ''))
    FROM (SELECT ROW({1})::text AS t FROM weft.{0}) found
"""
_HELD_AND_SILENT = """
    WITH silent AS (UPDATE weft.worker_incarnation SET heartbeat_at = now() - interval '1 hour')
    UPDATE weft.callback_delivery SET held = 'held', next_at = NULL WHERE delivery_id = $1
"""


async def rows(admin: asyncpg.Connection) -> Rows:
    """Return by table how many rows there are, and a digest of them without times."""
    tables = await admin.fetch(_COLUMNS, [*MOVING])
    each = [_ROWS.format(name, ", ".join(columns)) for name, columns in tables]
    return {name: (n, digest) for name, n, digest in await admin.fetch(" UNION ALL ".join(each))}


def ids_in(answer: httpx.Response) -> Any:  # noqa: ANN401 (JSON)
    """Return the numbers in a document by which things are known."""
    document = answer.json()
    items = document.items() if isinstance(document, dict) else ()
    return {name: value for name, value in items if name == "id" or name.endswith("_id")}


async def prepare(http: httpx.AsyncClient, tenant: FullTenant, admin: asyncpg.Connection) -> None:
    """Make what some routes need; note its numbers as those of `WAITING`."""
    await http.put("/v1/secrets/db", json={"value": "x"})
    made = await http.post("/v1/batches", json={**WAITING, "lifecycle": f"{tenant.word}-life"})
    hold = {"action": "hold", "batches": [tenant.batch]}
    operation = (await http.post("/v1/batch-actions", json=hold)).json()["id"]
    tenant.ids.update(waiting=made.json()["id"], operation=operation, l="matlab")
    await admin.execute(_HELD_AND_SILENT, tenant.ids["message"])


@pytest.mark.heavy
@pytest.mark.timeout(300)
async def test_each_change_is_made_once(
    api: LiveApi, database: Dsns, admin: asyncpg.Connection, tmp_path: Path
) -> None:
    tenant = await fill(api, database, admin, tmp_path / "logs", word="usual", first=300_000)
    refused, differs = {}, {}
    async with api.client(**tenant.header) as own, api.client() as site:
        await prepare(own, tenant, admin)
        for name in [one for one in changes() if " /v1/" in one and one not in NOT_SENT]:
            http = site if api.app.rights[name] == Right.ADMINISTER else own
            path, body, kind = request_for(name, tenant.ids)
            headers = {"idempotency-key": name.replace(" ", ""), "content-type": kind}
            asked = http.build_request(name.split()[0], path, content=body, headers=headers)
            first, left = await http.send(asked), await rows(admin)
            again, held = await http.send(asked), await rows(admin)
            if not first.is_success:
                refused[name] = first.text
            changed = {table for table, found in held.items() if found != left[table]}
            if changed or again.status_code != first.status_code or ids_in(again) != ids_in(first):
                differs[name] = (changed, first.text, again.text)

    assert refused == {}
    assert differs.keys() == DOES_IT_AGAIN.keys(), differs
    assert NOT_SENT.keys() < {*changes()}
