-- _record_pool_changes: record what was decided about a pool, and why. The newest 1,000 changes are kept.
-- Safe to repeat: no.
-- Locks: pool_log.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._record_pool_changes(
    of_pool_id int, kinds text[], machines text[], reasons text[]
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO weft.pool_change (pool_id, at, kind, machine, reason)
    SELECT of_pool_id, clock_timestamp(), c.kind, c.machine, left(c.reason, 1000)
    FROM unnest(_record_pool_changes.kinds, _record_pool_changes.machines, _record_pool_changes.reasons)
        WITH ORDINALITY c (kind, machine, reason, n)
    ORDER BY c.n;
    DELETE FROM weft.pool_change c
    WHERE c.pool_id = of_pool_id
        AND c.change_id <= (
            SELECT x.change_id
            FROM weft.pool_change x
            WHERE x.pool_id = of_pool_id
            ORDER BY x.change_id DESC
            OFFSET 1000
            LIMIT 1
        );
$$;
