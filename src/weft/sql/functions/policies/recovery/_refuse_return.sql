-- _refuse_return: end the jobs that _find_unreturned has found: those that are to be errors, and are still
--   ready or blocked.
-- Safe to repeat: yes.
-- For: _after_ends, _release_jobs, before the others are listed.
-- Locks: as _end_waiting_as_errors.
-- Plan: jobs, shapes and queues by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._refuse_return(
    batch_ids bigint[], job_ids int[], states smallint[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_left record;
BEGIN
    FOR v_left IN
        SELECT
            t.b AS batch_id,
            array_agg(t.j ORDER BY t.j) AS jobs,
            format(
                'it cannot go back into its queue: "%s" %s',
                s.queue,
                CASE WHEN q.state IS NULL THEN 'was deleted' ELSE 'is closed' END
            ) AS message
        FROM unnest(batch_ids, job_ids, states) t (b, j, s)
        CROSS JOIN LATERAL (SELECT x.* FROM weft.job x WHERE x.batch_id = t.b AND x.job_id = t.j OFFSET 0) j
        CROSS JOIN LATERAL (
            SELECT x.countables ->> 'queue' AS queue FROM weft.shape x WHERE x.shape_id = j.shape_id OFFSET 0
        ) s
        LEFT JOIN weft.queue q ON q.tenant_id = j.tenant_id AND q.name = s.queue
        WHERE t.s = STATE_ERROR AND j.state IN (STATE_READY, STATE_BLOCKED)
        GROUP BY t.b, s.queue, q.state
        ORDER BY t.b
    LOOP
        PERFORM weft._end_waiting_as_errors(
            v_left.batch_id, v_left.jobs, _refuse_return.at, 'blocked', v_left.message
        );
    END LOOP;
END $$;
