-- The gates of running cores that a job has are those of its tenant and of the owner of its batch, and it
--   takes of them what it asks for.
SELECT j.batch_id, j.job_id, g.kind, g.key, m.cost, j.cpu_m, b.user_id
FROM weft.job j
JOIN weft.batch b ON b.batch_id = j.batch_id
JOIN weft.gate_member m ON m.gate_set_id = j.gate_set_id
JOIN weft.gate g ON g.gate_id = m.gate_id
JOIN weft._gate_kinds() k ON k.kind = g.kind AND k.limited_by = 'quota'
WHERE j.gate_set_id IS NOT NULL
    AND (
        m.cost <> j.cpu_m
            OR g.key <> weft._gate_key(
                k.owner, j.tenant_id, NULL, NULL, CASE WHEN k.each_user THEN b.user_id END
            )
    )
UNION ALL
-- Each of them has as many places as the quota says, unless a note tells its owner to change it.
SELECT
    NULL, NULL, g.kind, g.key, g.max_places, q.cores_max_m, NULL
FROM weft.gate g
JOIN weft._gate_kinds() o ON o.kind = g.kind AND o.limited_by = 'quota'
CROSS JOIN LATERAL (
    SELECT
        substring(g.key FROM '^t([0-9]+)')::int AS tenant_id,
        nullif(weft._gate_name(g.key), '')::int AS user_id
) k
LEFT JOIN LATERAL (
    SELECT coalesce(max(x.cores_max_m) FILTER (WHERE x.user_id <> 0), max(x.cores_max_m)) AS cores_max_m
    FROM weft.quota x
    WHERE x.tenant_id = k.tenant_id
        AND CASE WHEN k.user_id IS NULL THEN x.user_id = -1 ELSE x.user_id IN (0, k.user_id) END
) q ON true
WHERE g.max_places IS DISTINCT FROM q.cores_max_m
    AND NOT EXISTS (SELECT FROM weft.gate_note n WHERE n.gate_id = g.gate_id AND n.max_places IS NOT NULL)
UNION ALL
-- Each job that has not ended has those of all quotas, once they have reached the jobs that were there
-- before.
SELECT
    j.batch_id, j.job_id, k.kind, NULL, NULL, q.cores_max_m, b.user_id
FROM weft.quota q
CROSS JOIN LATERAL (SELECT CASE WHEN q.user_id < 0 THEN 'cores' ELSE 'cores_user' END AS kind) k
JOIN weft.batch b ON b.tenant_id = q.tenant_id
    AND (q.user_id <= 0 OR b.user_id = q.user_id)
    AND NOT b.removing
JOIN weft.job j ON j.batch_id = b.batch_id AND j.state < STATE_SUCCESS
WHERE q.cores_max_m IS NOT NULL
    AND EXISTS (
        SELECT
        FROM weft.core_sweep s
        WHERE s.tenant_id = q.tenant_id AND s.user_id = q.user_id AND s.done_at IS NOT NULL
    )
    AND NOT EXISTS (
        SELECT
        FROM weft.gate_member m
        JOIN weft.gate g
        USING (gate_id)
        WHERE m.gate_set_id = j.gate_set_id AND g.kind = k.kind
    )
