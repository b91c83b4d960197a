-- reserve_rounds: what the driver has to know to keep workers for large jobs that wait long. First,
--   reservations that do not hold any more go.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; reservation (SKIP LOCKED).
-- Plan: the few reservations; live workers; as _waiting_long and _running_limits.
-- Returns: for each pool in which jobs have waited so long, or workers are kept, a document: `jobs` as
--   _waiting_long; `workers`, each with the lanes of these jobs that it serves, what runs there, and the job
--   that it is kept for. A worker that claims many jobs, or has slots, is left out: jobs come and go there,
--   whatever they need. So is one whose machine ends.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.reserve_rounds(epoch bigint, after_s double precision) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.reservation r
    WHERE r.incarnation_id IN (
        SELECT x.incarnation_id
        FROM weft.reservation x
        JOIN weft.worker_incarnation i
        USING (incarnation_id)
        WHERE i.ended_at IS NOT NULL OR NOT weft._kept_for(x)
        FOR UPDATE OF x SKIP LOCKED
    );
    RETURN QUERY
    SELECT jsonb_build_object(
        'jobs', coalesce(w.jobs, '[]'),
        'workers', (
            SELECT coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'incarnation_id', i.incarnation_id,
                        'cpu_m', i.cpu_m,
                        'memory_mib', i.memory_mib,
                        'running', weft._running_limits(i.incarnation_id, r),
                        'kept_for', (
                            SELECT to_jsonb(x)
                            FROM (
                                SELECT r.user_id, j.batch_id, j.job_id, j.cpu_m, j.memory_mib
                                FROM weft.job j
                                WHERE j.batch_id = r.batch_id AND j.job_id = r.job_id
                                OFFSET 0
                            ) x
                        ),
                        'lanes', ARRAY(
                            SELECT l.lane_id
                            FROM weft.worker_lane l
                            WHERE l.incarnation_id = i.incarnation_id AND l.lane_id = ANY (w.lanes)
                        )
                    ) ORDER BY i.incarnation_id
                ),
                '[]'
            )
            FROM weft.worker_incarnation i
            LEFT JOIN weft.reservation r
            USING (incarnation_id)
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(cardinality(c.jobs)), 0) AS n
                FROM weft.claim c
                WHERE c.incarnation_id = i.incarnation_id
            ) k
            WHERE i.pool_id = p.pool_id
                AND i.ended_at IS NULL
                AND NOT i.draining
                AND NOT i.cordoned
                AND NOT i.trying
                AND k.n <= 10000
                AND NOT coalesce(i.offers ?| ARRAY['slots', 'timeout_s'], false)
        )
    )
    FROM weft.pool p
    CROSS JOIN LATERAL (
        SELECT jsonb_agg(to_jsonb(x)) AS jobs, array_agg(DISTINCT x.lane_id) AS lanes
        FROM weft._waiting_long(
            p.pool_id,
            ARRAY(
                SELECT DISTINCT l.lane_id
                FROM weft.worker_incarnation i
                JOIN weft.worker_lane l
                USING (incarnation_id)
                WHERE i.pool_id = p.pool_id AND i.ended_at IS NULL
            ),
            reserve_rounds.after_s
        ) x
    ) w
    WHERE w.jobs IS NOT NULL
        AND EXISTS (SELECT FROM weft.user_share s WHERE s.pool_id = p.pool_id AND s.active)
        OR EXISTS (
            SELECT
            FROM weft.reservation r
            JOIN weft.worker_incarnation i
            USING (incarnation_id)
            WHERE i.pool_id = p.pool_id
        );
END $$;
