"""Gates of which a job takes several places stood in a set as often as that."""

from collections.abc import Mapping

import pytest

from migrations.older_schema import older_schema
from weft.sql import files_of
from weft.store import open_admin

pytestmark = pytest.mark.heavy  # a migration that was released does not change any more
_ROWS = """
    INSERT INTO weft.gate (kind, key, max_places) VALUES ('licence', 's/a', 5), ('licence', 's/b', 5);
    INSERT INTO weft.gate_set (gate_ids) VALUES ('{2}'), ('{2,2,2}'), ('{2,2,3}');
    INSERT INTO weft.gate_member (gate_id, gate_set_id, cost) VALUES (2, 2, 1), (2, 3, 3), (2, 4, 2), (3, 4, 1);
"""  # noqa: E501 (SQL)


async def test_sets_keep_their_ids(empty_database: Mapping[str, str]) -> None:
    (before,) = [
        one.name for one in files_of("migrations") if one.name.endswith("pre_core_quotas")
    ]
    async with older_schema(empty_database["admin"], before, _ROWS) as owner:
        async with open_admin(empty_database["admin"]) as admin:
            await admin.migrate()
            findings = {one.check: one.rows for one in await admin.audit()}
        sets = await owner.fetch(
            "SELECT gate_ids FROM weft.gate_set WHERE gate_set_id > 1 ORDER BY gate_set_id"
        )
        found = await owner.fetchval("SELECT weft._gate_set_id('{3,2}', '{1,2}')")

    assert [row[0] for row in sets] == [[2], [2, -3], [2, -2, 3]]
    assert found == 4
    assert findings["gate_sets_are_complete"] == ()
