"""Kinds of gates are rows of one function, and each has its sentence."""

import re

import asyncpg
import pytest

from store.world import World
from weft.sql import files_of
from weft.submission.translation.gates import SENTENCES


async def test_each_kind_has_its_sentence(world: World) -> None:
    rows = await world.admin.fetch("SELECT kind FROM weft._gate_kinds()")

    assert sorted(row["kind"] for row in rows) == sorted(SENTENCES)


async def test_each_kind_that_is_made_of_a_queue_names_its_field(world: World) -> None:
    rows = await world.admin.fetch("SELECT * FROM weft._gate_kinds()")

    assert {row["owner"] for row in rows} == {"batch", "tenant", "site"}
    for row in rows:
        assert (row["queue_field"] is None) is (row["limited_by"] != "queue"), row["kind"]


async def test_gate_of_no_kind_is_refused(world: World) -> None:
    with pytest.raises(asyncpg.NotNullViolationError):
        await world.admin.execute(
            'SELECT weft._intern_gates($1, NULL, ARRAY[\'[{"kind": "none"}]\'::jsonb])',
            world.caller.tenant_id,
        )


def test_keys_are_made_in_one_function() -> None:
    """Neither who shares a gate nor how its key is written stands anywhere else."""
    made = re.compile(r"\bkey (=|<>) (concat|format|'[ts]/)|starts_with\(g\.key, (concat|')")
    by_kind = re.compile(r"\bg\.kind (=|<>|IN|NOT IN) \(?'")
    found = [
        file.name
        for folder in ("functions", "audit")
        for file in files_of(folder)
        if "weft.gate " in file.source
        and (made.search(file.source) or by_kind.search(file.source))
    ]

    assert found == []
