-- _end_unreturned: end jobs that would go back into a queue that is closed, or that was deleted while they ran. Those whose last attempt
--   never started go back: they count as jobs that wait there. Those that were cancelled meanwhile are left to _list_ready.
-- Called by: _follow_ends, _release_jobs, before the jobs are listed.   Safe to repeat: yes.
-- Locks: as _end_waiting_as_errors.   Plan: jobs, shapes, queues and attempts by key.
-- Returns: the states, where these are errors.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._end_unreturned(batch_ids bigint[], job_ids int[], states smallint[], at timestamptz) RETURNS smallint[]
LANGUAGE plpgsql
AS $$
DECLARE
    v_left record;
BEGIN
    FOR v_left IN
        SELECT t.b AS batch_id, array_agg(t.j ORDER BY t.j) AS jobs, array_agg(t.n) AS places,
            format('it cannot go back into its queue: "%s" %s', s.queue, CASE WHEN q.state IS NULL THEN 'was deleted' ELSE 'is closed' END)
                AS message
        FROM unnest(batch_ids, job_ids, states) WITH ORDINALITY t (b, j, s, n)
        CROSS JOIN LATERAL (SELECT x.* FROM weft.job x WHERE x.batch_id = t.b AND x.job_id = t.j OFFSET 0) j
        CROSS JOIN LATERAL (SELECT x.countables ->> 'queue' AS queue FROM weft.shape x WHERE x.shape_id = j.shape_id OFFSET 0) s
        LEFT JOIN weft.queue q ON q.tenant_id = j.tenant_id AND q.name = s.queue
        WHERE t.s IN (STATE_READY, STATE_BLOCKED) AND weft._takes_none_back(j.tenant_id, j.shape_id)
          AND (t.s = STATE_BLOCKED OR EXISTS (SELECT FROM weft.attempt a
                WHERE a.batch_id = t.b AND a.job_id = t.j AND a.attempt = j.attempt AND a.started_at IS NOT NULL))
          AND NOT EXISTS (SELECT FROM weft.job_cancel c WHERE c.batch_id = t.b AND c.job_id = t.j AND NOT c.late)
          AND NOT weft._is_cancelled(t.b, j.group_id, j.always_run)
        GROUP BY t.b, s.queue, q.state ORDER BY t.b
    LOOP
        PERFORM weft._end_waiting_as_errors(v_left.batch_id, v_left.jobs, _end_unreturned.at, 'blocked', v_left.message);
        states := ARRAY(SELECT CASE WHEN x.n = ANY (v_left.places) THEN STATE_ERROR ELSE x.s END::smallint
            FROM unnest(states) WITH ORDINALITY x (s, n) ORDER BY x.n);
    END LOOP;
    RETURN states;
END $$;
