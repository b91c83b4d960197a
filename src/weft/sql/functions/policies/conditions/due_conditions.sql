-- due_conditions: the conditions to be tested now, besides those that are `busy`: with them `limit_rows`,
--   half of one tenant. One without jobs is over, and is forgotten instead.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; condition (SKIP LOCKED); condition_batch; as _announce.
-- Plan: as _next_tests; jobs, deltas and batches of a
--   condition by index.
-- A call removes 10,000 rows of batches at most: of a condition with more than 1,000, which its event names,
--   the oldest go first, in calls that find no other condition to forget. Until then it is due, and not
--   returned.
-- Returns: the longest due first; late_s: for how long; is_over: it is forgotten.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.due_conditions(
    epoch bigint, busy bigint[], limit_rows int, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (condition_id bigint, tester text, parameters jsonb, late_s float8, is_over boolean)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    v_due bigint[];
    v_over bigint[];
    v_gone bigint[];
    v_large bigint;
BEGIN
    SELECT array_agg(d.condition_id)
    INTO v_due
    FROM (
        SELECT c.condition_id
        FROM weft._next_tests(busy, limit_rows, limit_rows, due_conditions.at) n
        JOIN weft.condition c
        USING (condition_id)
        WHERE c.next_test_at <= due_conditions.at
        ORDER BY n.n, n.next_test_at
        LIMIT greatest(0, limit_rows - cardinality(busy))
        FOR UPDATE OF c SKIP LOCKED
    ) d;
    -- A new statement: it sees the jobs that came while a row was locked, and no other comes before the
    -- commit.
    v_over := ARRAY(
        SELECT d
        FROM unnest(v_due) d
        WHERE NOT EXISTS (SELECT FROM weft.blocked_job k WHERE k.condition_id = d)
        ORDER BY d
    );
    SELECT array_agg(o.id) FILTER (WHERE o.n <= 1000 AND o.upto <= 10000), min(o.id) FILTER (WHERE o.n > 1000)
    INTO v_gone, v_large
    FROM (
        SELECT x.id, k.n, sum(k.n) OVER (ORDER BY x.id) AS upto
        FROM unnest(v_over[:100]) x (id)
        CROSS JOIN LATERAL (
            SELECT count(*) AS n
            FROM (SELECT FROM weft.condition_batch y WHERE y.condition_id = x.id LIMIT 1001) b
        ) k
    ) o;
    -- In the order in which a batch that is removed removes its own.
    PERFORM
    FROM weft.condition_batch b
    WHERE b.condition_id = ANY (v_gone)
    ORDER BY b.condition_id, b.batch_id
    FOR UPDATE;
    IF v_gone IS NULL AND v_large IS NOT NULL THEN
        WITH old AS MATERIALIZED (
            SELECT b.batch_id
            FROM weft.condition_batch b
            WHERE b.condition_id = v_large
                AND b.batch_id < (
                    SELECT y.batch_id
                    FROM weft.condition_batch y
                    WHERE y.condition_id = v_large
                    ORDER BY y.condition_id DESC, y.batch_id DESC
                    OFFSET 999
                    LIMIT 1
                )
            ORDER BY b.condition_id, b.batch_id
            LIMIT 10000
            FOR UPDATE
        )
        DELETE FROM weft.condition_batch b
        USING old o
        WHERE b.condition_id = v_large AND b.batch_id = o.batch_id;
    END IF;
    RETURN QUERY
    WITH gone AS (DELETE FROM weft.condition c WHERE c.condition_id = ANY (v_gone) RETURNING c.*),
    del AS (DELETE FROM weft.condition_delta d USING gone g WHERE d.condition_id = g.condition_id),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, detail)
        SELECT
            due_conditions.at,
            g.tenant_id,
            0,
            'condition.closed',
            jsonb_build_object(
                'condition_id', g.condition_id,
                'condition', g.kind,
                'tester', g.tester,
                'parameters', g.parameters,
                'since', g.since,
                'batches', (
                    SELECT coalesce(jsonb_object_agg(b.batch_id, 0), '{}')
                    FROM (  -- for _shown_detail; none: all are removed
                        SELECT x.batch_id
                        FROM weft.condition_batch x
                        WHERE x.condition_id = g.condition_id
                        ORDER BY x.batch_id DESC
                        LIMIT 1000
                    ) b
                )
            )
        FROM gone g
    )
    SELECT g.condition_id, g.tester, g.parameters, 0::float8, true
    FROM gone g;
    IF FOUND THEN
        PERFORM weft._announce();
    END IF;
    RETURN QUERY
    SELECT
        c.condition_id,
        c.tester,
        c.parameters,
        extract(epoch FROM due_conditions.at - c.next_test_at)::float8,
        false
    FROM weft.condition c
    WHERE c.condition_id = ANY (v_due) AND c.condition_id <> ALL (v_over)
    ORDER BY c.next_test_at;
END $$;
