-- _count_shares: count the ends of parents of which a share must succeed (`edge_needed` below 0), and put one
--   end of each share that is decided now in their place: a good one when enough succeeded, a bad one when
--   more failed than may.
-- Safe to repeat: no.
-- For: who calls _end_parents with what is returned; NULL: nothing.
-- Locks: child (all of the call, in key order).
-- Plan: jobs and shares by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_shares(
    INOUT batch_ids bigint[], INOUT child_ids int[], INOUT oks boolean[], edge_needed smallint[]
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM
    FROM (SELECT DISTINCT t.b, t.c FROM unnest(batch_ids, child_ids) t (b, c) ORDER BY 1, 2) g
    CROSS JOIN LATERAL (SELECT FROM weft.job j WHERE j.batch_id = g.b AND j.job_id = g.c FOR UPDATE) l;
    WITH told AS MATERIALIZED (
        SELECT * FROM unnest(batch_ids, child_ids, oks, edge_needed) t (b, c, ok, need)
    ),
    share AS (
        UPDATE weft.parent_share s
        SET n_succeeded = s.n_succeeded + t.n_ok, n_failed = s.n_failed + t.n - t.n_ok
        FROM (
            SELECT o.b, o.c, o.need, count(*)::int AS n, count(*) FILTER (WHERE o.ok)::int AS n_ok
            FROM told o
            WHERE o.need < 0
            GROUP BY 1, 2, 3
        ) t
        WHERE s.batch_id = t.b AND s.child_id = t.c AND s.need = t.need
        RETURNING
            s.batch_id,
            s.child_id,
            s.n_succeeded >= s.n_needed AS ok,
            s.n_failed > s.n_jobs - s.n_needed AS bad,
            s.n_succeeded - t.n_ok < s.n_needed
                AND s.n_failed - t.n + t.n_ok <= s.n_jobs - s.n_needed AS was_open
    )
    SELECT array_agg(e.b), array_agg(e.c), array_agg(e.ok)
    INTO batch_ids, child_ids, oks
    FROM (
        SELECT t.b, t.c, t.ok
        FROM told t
        WHERE coalesce(t.need, 0) >= 0
        UNION ALL
        SELECT s.batch_id, s.child_id, s.ok
        FROM share s
        WHERE s.was_open AND (s.ok OR s.bad)
    ) e;
END $$;
