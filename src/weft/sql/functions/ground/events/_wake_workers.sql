-- _wake_workers: wake workers that sleep and serve the lanes in which there is new work: at most `at_most`
--   for each lane, taken at random. Whoever was woken and leaves work behind wakes more, so a little work
--   wakes a few of a thousand workers, and much work wakes all. A NULL lane wakes all of its pool that sleep.
--   The notice names the pool and, unless it is for all of them, the incarnations.
-- Safe to repeat: yes.
-- Plan: the incarnations of a pool that are alive, once; for each lane their lanes by key, until enough are
--   found.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._wake_workers(pool_ids int[], lane_ids int[], at_most int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(
        'work',
        CASE
            WHEN cardinality(w.ids) IN (cardinality(s.ids), 500) THEN p.pool_id::text
            ELSE p.pool_id || ':' || array_to_string(w.ids, ',')
        END
    )
    FROM (SELECT DISTINCT unnest(_wake_workers.pool_ids) AS pool_id) p
    CROSS JOIN LATERAL (
        SELECT array_agg(i.incarnation_id ORDER BY random()) AS ids
        FROM weft.worker_incarnation i
        WHERE i.pool_id = p.pool_id AND i.ended_at IS NULL AND i.waiting AND NOT i.cordoned
    ) s
    CROSS JOIN LATERAL (
        SELECT array_agg(x.incarnation_id) AS ids
        FROM (
            SELECT DISTINCT y.incarnation_id
            FROM (
                SELECT DISTINCT z.lane_id
                FROM unnest(_wake_workers.pool_ids, _wake_workers.lane_ids) z (pool_id, lane_id)
                WHERE z.pool_id = p.pool_id
            ) n
            CROSS JOIN LATERAL (
                SELECT t.incarnation_id
                FROM unnest(s.ids) t (incarnation_id)
                WHERE n.lane_id IS NULL
                    OR EXISTS (
                        SELECT
                        FROM weft.worker_lane l
                        WHERE l.incarnation_id = t.incarnation_id AND l.lane_id = n.lane_id
                    )
                LIMIT CASE WHEN n.lane_id IS NULL THEN 500 ELSE at_most END
            ) y
            LIMIT 500
        ) x
    ) w
    WHERE w.ids IS NOT NULL;
END $$;
