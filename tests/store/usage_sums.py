"""Sums of usage by resource, made from rows of usage that a test has written."""

from datetime import date

import asyncpg

_SUMS = """
WITH whole AS MATERIALIZED (
    SELECT u.* FROM weft.billing_project p CROSS JOIN LATERAL (
        SELECT x.* FROM weft.project_usage x WHERE x.project_id = p.project_id AND x.usage_on
            >= $1::date OFFSET 0) u),
known AS MATERIALIZED (
    SELECT u.* FROM (SELECT x.* FROM weft.user_usage x WHERE x.usage_on >= $1::date OFFSET 0) u
    WHERE u.project_id IN (SELECT w.project_id FROM whole w)),
part AS (
    SELECT w.tenant_id, w.project_id, 0 AS user_id, w.usage_on, w.rate_card_id, w.shape_id,
        w.usage_ms FROM whole w
    UNION ALL SELECT k.tenant_id, k.project_id, k.user_id, k.usage_on, k.rate_card_id,
        k.shape_id, k.usage_ms FROM known k
    UNION ALL SELECT w.tenant_id, w.project_id, 2147483647, w.usage_on, w.rate_card_id,
        w.shape_id, w.usage_ms FROM whole w
    UNION ALL SELECT k.tenant_id, k.project_id, 2147483647, k.usage_on, k.rate_card_id,
        k.shape_id, -k.usage_ms FROM known k),
told AS MATERIALIZED (
    SELECT p.tenant_id, coalesce(p.project_id, 0) AS project_id, p.user_id, p.usage_on,
        p.rate_card_id,
        sum(p.usage_ms::numeric * h.cpu_m) AS cpu, sum(p.usage_ms::numeric * h.memory_mib) AS
            memory,
        sum(p.usage_ms::numeric * h.storage_mib) AS storage, sum(p.usage_ms::numeric * h.gpu)
            AS gpu
    FROM part p JOIN weft.shape h USING (shape_id)
    GROUP BY p.tenant_id, p.user_id, p.usage_on, p.rate_card_id, GROUPING SETS
        ((p.project_id), ())),
missing AS MATERIALIZED (
    SELECT t.tenant_id, t.project_id, t.user_id, t.usage_on, t.rate_card_id, t.cpu -
        coalesce(s.cpu, 0) AS cpu,
        t.memory - coalesce(s.memory, 0) AS memory, t.storage - coalesce(s.storage, 0) AS
            storage, t.gpu - coalesce(s.gpu, 0) AS gpu
    FROM told t LEFT JOIN LATERAL (
        SELECT x.* FROM weft.usage_sum x WHERE x.tenant_id = t.tenant_id AND x.project_id =
            t.project_id AND x.user_id = t.user_id
            AND x.usage_on = t.usage_on AND x.rate_card_id = t.rate_card_id OFFSET 0) s ON true
    WHERE (t.cpu, t.memory, t.storage, t.gpu)
        <> (coalesce(s.cpu, 0), coalesce(s.memory, 0), coalesce(s.storage, 0), coalesce(s.gpu,
            0)))
INSERT INTO weft.usage_sum AS s (tenant_id, project_id, user_id, usage_on, rate_card_id, cpu,
    memory, storage, gpu)
SELECT m.* FROM missing m
UNION ALL
SELECT m.tenant_id, m.project_id, 0, '-infinity', m.rate_card_id, sum(m.cpu), sum(m.memory),
    sum(m.storage), sum(m.gpu)
FROM missing m WHERE m.user_id = 0 AND m.project_id > 0 GROUP BY 1, 2, 5
ON CONFLICT (tenant_id, project_id, user_id, usage_on, rate_card_id) DO UPDATE SET cpu = s.cpu
    + excluded.cpu,
    memory = s.memory + excluded.memory, storage = s.storage + excluded.storage, gpu = s.gpu +
        excluded.gpu
"""


async def add_up_usage(admin: asyncpg.Connection, since: date) -> None:
    """Make the sums equal to usage by shape, for the dates since then."""
    await admin.execute(_SUMS, since)
