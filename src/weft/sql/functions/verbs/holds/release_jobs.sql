-- release_jobs: release single jobs; jobs of a held group continue to wait.
-- Safe to repeat: yes.
-- Locks: as _lock_jobs; job (locked there); ready_job; as _pass_gates; as _announce.
-- Plan: jobs by key.
-- Returns: per job `released`, `held` (by a group), or the word of its terminal state.  Raises WF101, WF102.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.release_jobs(
    tenant_id int, batch_id bigint, job_ids int[], actor text, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (job_id int, outcome text) LANGUAGE plpgsql AS $$
DECLARE
    v_job int[];
    v_sets int[];
BEGIN
    PERFORM weft._lock_jobs(release_jobs.batch_id, release_jobs.job_ids);
    WITH gone AS (
        DELETE FROM weft.job_hold h
        WHERE h.batch_id = release_jobs.batch_id AND h.job_id = ANY (release_jobs.job_ids)
        RETURNING h.job_id
    )
    SELECT array_agg(g.job_id ORDER BY g.job_id)
    INTO v_job
    FROM gone g;
    PERFORM weft._record_hold(release_jobs.batch_id, v_job, 'released', release_jobs.actor, release_jobs.at);
    SELECT array_agg(j.job_id)
    INTO v_job
    FROM weft.job j
    WHERE j.batch_id = release_jobs.batch_id
        AND j.job_id = ANY (v_job)
        AND NOT weft._is_closed(j.batch_id, j.group_id, j.job_id);
    -- As in _unpark_jobs: also of jobs that were not parked yet, which who passed their gates meanwhile has
    -- left out.
    v_sets := weft._unpark(release_jobs.batch_id, v_job) || ARRAY(
        SELECT DISTINCT q.gate_set_id
        FROM weft.ready_job q
        WHERE q.batch_id = release_jobs.batch_id AND q.job_id = ANY (v_job) AND q.gate_set_id > 1
    );
    IF v_sets <> '{}' THEN
        PERFORM weft._pass_gates(weft._set_gates(v_sets), true);
    END IF;
    PERFORM weft._at_release(release_jobs.batch_id);
    PERFORM weft._announce(p.ids, array_fill(b.user_id, ARRAY[cardinality(p.ids)]))
    FROM weft.batch b
    CROSS JOIN weft._batch_pools(b.batch_id) p (ids)
    WHERE b.batch_id = release_jobs.batch_id;
    RETURN QUERY
    SELECT
        j.job_id,
        CASE
            WHEN j.state >= STATE_SUCCESS THEN s.word
            WHEN weft._is_held(j.batch_id, j.group_id, j.job_id) THEN 'held'
            ELSE 'released'
        END
    FROM weft.job j
    JOIN weft.job_state s
    USING (state)
    WHERE j.batch_id = release_jobs.batch_id AND j.job_id = ANY (release_jobs.job_ids)
    ORDER BY 1;
END $$;
