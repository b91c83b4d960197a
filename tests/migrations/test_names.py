"""Names that an earlier release took for several are several still."""

import asyncpg

from migrations.older_schema import upgraded

BEFORE = "0109_pre_folded_names"
ROWS = """
    INSERT INTO weft.tenant (name) VALUES ('straße'), ('STRASSE');
    INSERT INTO weft.tenant_user (tenant_id, name) VALUES (1, 'ΟΔΟΣ'), (1, 'οδος'), (2, 'οδος');
    INSERT INTO weft.billing_project (tenant_id, name) VALUES (1, 'ß'), (1, 'SS'), (2, 'ss');
"""
NAMES = """
    SELECT array_agg(name ORDER BY tenant_id) FROM weft.tenant UNION ALL
    SELECT array_agg(name ORDER BY user_id) FROM weft.tenant_user UNION ALL
    SELECT array_agg(name ORDER BY project_id) FROM weft.billing_project
"""


async def test_all_but_the_oldest_of_one_name_get_their_number(
    empty_database: dict[str, str],
) -> None:
    async with upgraded(empty_database["admin"], BEFORE, ROWS) as owner:
        found: list[asyncpg.Record] = await owner.fetch(NAMES)

    assert [row[0] for row in found] == [
        ["t", "straße", "STRASSE-3"],
        ["ada", "ΟΔΟΣ", "οδος-3", "οδος"],
        ["default", "ß", "SS-3", "ss"],
    ]
