-- _look_at_jobs: of the next limit_jobs jobs of a batch that have not ended, which are with nobody: no
--   parent, offer, gate, hold, machine, worker or date will let them go on. What happens meanwhile is not
--   seen, so each job is where it was at one moment.
-- Plan: jobs by key, those that have ended among them, which cost a twentieth: at most 20 * limit_jobs
--   numbers (an index of those that have not would make each change of a state dearer); ranges of the batch;
--   of each job that has not ended what it waits for, by key.
-- Returns: one row: how much of its limit it used, the last number it looked at, how many have not ended, and
--   those that are with nobody, with their states. It used all of its limit unless the batch ends there.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._look_at_jobs(of_batch_id bigint, after_job int, limit_jobs int)
RETURNS TABLE (n_read int, last_job int, n_live int, orphans int[], states smallint[])
LANGUAGE sql STABLE AS $$
    WITH span AS (SELECT least(after_job + 20::bigint * limit_jobs, 2147483647)::int AS last_job),
    page AS MATERIALIZED (
        SELECT j.*
        FROM weft.job j
        WHERE j.batch_id = of_batch_id
            AND j.job_id > after_job
            AND j.job_id <= (SELECT s.last_job FROM span s)
            AND j.state < STATE_SUCCESS
        ORDER BY j.job_id
        LIMIT limit_jobs
    ),
    upto AS MATERIALIZED (
        SELECT
            CASE WHEN count(*) < limit_jobs THEN (SELECT s.last_job FROM span s) ELSE max(p.job_id) END AS
                job_id,
            count(*)::int AS n_open
        FROM page p
    ),
    batch AS MATERIALIZED (
        SELECT b.user_id, q.pool_id
        FROM weft.batch b
        JOIN weft.queue q
        USING (queue_id)
        WHERE b.batch_id = of_batch_id AND NOT b.removing
    ),
    ranges AS MATERIALIZED (
        SELECT r.*
        FROM weft.runnable r
        WHERE r.batch_id = of_batch_id
            AND r.last_job > after_job
            AND r.low_job <= (SELECT u.job_id FROM upto u)
    ),
    live AS MATERIALIZED (
        SELECT p.*, b.user_id, weft._lane_pool(p.lane_id, b.pool_id) AS pool_id
        FROM page p
        CROSS JOIN batch b
        WHERE (
            SELECT u.committed_at IS NOT NULL
            FROM weft.batch_update u
            WHERE u.batch_id = p.batch_id AND u.update_id = p.update_id
        )
    ),
    orphan AS (
        SELECT l.job_id, l.state
        FROM live l
        WHERE NOT CASE l.state
            WHEN STATE_PENDING
                THEN EXISTS (
                    SELECT FROM weft.parent_end t WHERE t.batch_id = l.batch_id AND t.child_id = l.job_id
                )
                    OR EXISTS (
                        SELECT
                        FROM weft.edge e
                        CROSS JOIN LATERAL (
                            SELECT x.state
                            FROM weft.job x
                            WHERE x.batch_id = e.batch_id AND x.job_id = e.parent_id
                            OFFSET 0
                        ) p
                        WHERE e.batch_id = l.batch_id
                            AND e.child_id = l.job_id
                            AND e.need IS DISTINCT FROM NEED_TOLD
                            AND (
                                p.state < STATE_SUCCESS
                                    OR EXISTS (
                                        SELECT
                                        FROM weft.cascade c
                                        WHERE c.batch_id = e.batch_id AND c.job_id = e.parent_id
                                    )
                            )
                    )
            WHEN STATE_READY
                THEN EXISTS (
                    SELECT
                    FROM (
                        SELECT y.gate_set_id
                        FROM weft.ready_job y
                        WHERE l.listed
                            AND y.batch_id = l.batch_id
                            AND y.job_id = l.job_id
                            AND y.pool_id = l.pool_id
                            AND y.user_id = l.user_id
                            AND y.lane_id = l.lane_id
                        UNION ALL
                        SELECT r.gate_set_id
                        FROM ranges r
                        WHERE NOT l.listed
                            AND l.job_id BETWEEN r.low_job AND r.last_job
                            AND r.pool_id = l.pool_id
                            AND r.user_id = l.user_id
                            AND r.lane_id = l.lane_id
                    ) o
                    WHERE CASE o.gate_set_id
                        WHEN 0
                            THEN EXISTS (
                                SELECT
                                FROM weft.user_share s
                                WHERE s.pool_id = l.pool_id AND s.user_id = l.user_id AND s.active
                            )
                                OR EXISTS (
                                    SELECT
                                    FROM weft.held_ready n
                                    WHERE n.batch_id = l.batch_id AND n.job_id = l.job_id
                                )
                        WHEN 1
                            THEN weft._is_closed(l.batch_id, l.group_id, l.job_id)
                                OR EXISTS (
                                    SELECT
                                    FROM weft.group_hold h
                                    WHERE h.batch_id = l.batch_id AND NOT h.swept
                                )
                                OR NOT l.listed
                                    AND EXISTS (
                                        SELECT
                                        FROM weft.core_sweep c
                                        WHERE c.tenant_id = l.tenant_id AND c.done_at IS NULL
                                    )
                                OR EXISTS (
                                    SELECT
                                    FROM weft.late_job t
                                    WHERE t.batch_id = l.batch_id AND t.job_id = l.job_id
                                )
                        ELSE true
                    END
                )
            WHEN STATE_QUEUED
                THEN EXISTS (
                    SELECT
                    FROM weft.transport_offer o
                    WHERE o.batch_id = l.batch_id AND o.job_id = l.job_id AND o.attempt IS NULL
                )
            WHEN STATE_CREATING
                THEN EXISTS (
                    SELECT
                    FROM weft.machine m
                    WHERE m.for_batch_id = l.batch_id AND m.for_job_id = l.job_id AND m.released_at IS NULL
                )
            WHEN STATE_RUNNING
                THEN EXISTS (
                    SELECT
                    FROM weft.worker_incarnation i
                    JOIN weft.claim c
                    USING (incarnation_id)
                    WHERE i.incarnation_id = l.incarnation_id
                        AND i.ended_at IS NULL
                        AND c.batch_id = l.batch_id
                        AND l.job_id = ANY (c.jobs)
                )
            WHEN STATE_BLOCKED
                THEN EXISTS (
                    SELECT FROM weft.blocked_job k WHERE k.batch_id = l.batch_id AND k.job_id = l.job_id
                )
            ELSE false
        END
    )
    SELECT
        CASE
            WHEN l.last_job > u.job_id THEN limit_jobs
            ELSE greatest(u.n_open, (l.last_job - after_job) / 20)
        END,
        u.job_id,
        (SELECT count(*)::int FROM live),
        ARRAY(SELECT o.job_id FROM orphan o ORDER BY o.job_id),
        ARRAY(SELECT o.state FROM orphan o ORDER BY o.job_id)
    FROM upto u
    CROSS JOIN (SELECT max(j.job_id) AS last_job FROM weft.job j WHERE j.batch_id = of_batch_id) l
$$;
