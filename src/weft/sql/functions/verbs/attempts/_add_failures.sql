-- _add_failures: add failures to the counters of these groups that set cancel_after_n_failures; cancel groups
--   that reach it.
-- Safe to repeat: no; once per failure.
-- Locks: failure_count (in key order); as _cancel_group.
-- Plan: counters by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_failures(batch_ids bigint[], group_ids int[], ns int[], at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_group record;
BEGIN
    FOR v_group IN
        WITH locked AS MATERIALIZED (
            -- What failed before its cancel was lifted does not count any more.
            SELECT
                c.batch_id, c.group_id, CASE WHEN c.lifted_at >= _add_failures.at THEN 0 ELSE f.n END AS n
            FROM unnest(_add_failures.batch_ids, _add_failures.group_ids, _add_failures.ns) f (b, g, n)
            JOIN weft.failure_count c ON c.batch_id = f.b AND c.group_id = f.g
            ORDER BY 1, 2
            FOR UPDATE OF c
        )
        UPDATE weft.failure_count c
        SET n_failures = c.n_failures + l.n
        FROM locked l
        WHERE c.batch_id = l.batch_id AND c.group_id = l.group_id
        RETURNING c.batch_id, c.group_id, c.n_failures, c.n_failures_max, l.n
    LOOP
        IF v_group.n_failures >= v_group.n_failures_max
            AND v_group.n_failures - v_group.n < v_group.n_failures_max
        THEN
            PERFORM weft._cancel_group(
                v_group.batch_id, v_group.group_id, 'cancel_after_n_failures', false, _add_failures.at
            );
        END IF;
    END LOOP;
END $$;
