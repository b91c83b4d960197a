-- _claimed_sample: how many jobs of a group a worker has claimed that wait there for room, or in an engine,
--   and the first of them.
-- Plan: the running jobs among the first 2000 of the batch, by key. So those that come later are not told.
-- Returns: NULL if there is none. What was claimed within two seconds starts in a moment.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._claimed_sample(of_batch_id bigint, of_group_id int) RETURNS jsonb
LANGUAGE sql STABLE PLAN_IN_ORDER AS $$
    SELECT jsonb_build_object(
        'job_id', x.job_id,
        'worker', w.name,
        'n', x.n,
        'elsewhere', x.phase <> PHASE_ASSIGNED,
        'message', x.note
    )
    FROM (
        SELECT
            j.job_id,
            j.incarnation_id,
            j.phase,
            count(*) OVER () AS n,
            weft._note_of(of_batch_id, j.job_id, j.attempt, j.phase) AS note
        FROM (
            SELECT y.*
            FROM (SELECT z.* FROM weft.job z WHERE z.batch_id = of_batch_id ORDER BY z.job_id LIMIT 2000) y
            WHERE y.state = STATE_RUNNING
        ) j
        WHERE j.started_at IS NULL
            AND (
                j.phase IN (PHASE_SUBMITTING, PHASE_QUEUED_REMOTE)
                    OR j.phase = PHASE_ASSIGNED AND j.claimed_at < clock_timestamp() - interval '2 seconds'
            )
            AND weft._is_member(of_batch_id, j.group_id, of_group_id)
        ORDER BY j.job_id
        LIMIT 1
    ) x
    JOIN weft.worker_incarnation i ON i.incarnation_id = x.incarnation_id
    JOIN weft.worker w ON w.worker_id = i.worker_id
$$;
