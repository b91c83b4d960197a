-- _park_noted: park jobs that became ready while they were held, or were put into a held set; tell of those
--   that are free by now, as who noted them told nobody, and a release that did not see them told too early;
--   one bounded step.
-- Safe to repeat: yes.
-- Plan: notes and jobs by key.
-- Locks: job (SKIP LOCKED); as _park_jobs; as _announce. A claimer may wait for one while it holds others.
-- Functions that make a job ready only note it: if they parked it, a release that commits meanwhile would
--   miss it.
-- Returns: how many notes are settled. Jobs whose rows are locked elsewhere keep theirs.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._park_noted(limit_jobs int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_note record;
    v_job int[];
    v_n bigint := 0;
    v_free record;
    v_pools int[];
    v_users int[];
    v_lanes int[];
BEGIN
    FOR v_note IN
        SELECT x.batch_id, array_agg(x.job_id) AS jobs
        FROM (
            SELECT n.batch_id, n.job_id FROM weft.held_ready n ORDER BY n.batch_id, n.job_id LIMIT limit_jobs
        ) x
        GROUP BY x.batch_id
    LOOP
        SELECT array_agg(l.job_id)
        INTO v_job
        FROM unnest(v_note.jobs) x
        CROSS JOIN LATERAL (
            SELECT j.job_id
            FROM weft.job j
            WHERE j.batch_id = v_note.batch_id AND j.job_id = x
            FOR UPDATE SKIP LOCKED
        ) l;
        PERFORM weft._park_jobs(v_note.batch_id, v_job);
        DELETE FROM weft.held_ready n WHERE n.batch_id = v_note.batch_id AND n.job_id = ANY (v_job);
        v_n := v_n + coalesce(cardinality(v_job), 0);
        SELECT
            v_pools || array_agg(q.pool_id) AS pools,
            v_users || array_agg(q.user_id) AS users,
            v_lanes || array_agg(q.lane_id) AS lanes,
            array_agg(q.gate_set_id) FILTER (WHERE q.gate_set_id > 1) AS sets
        INTO v_free
        FROM weft.ready_job q
        WHERE q.batch_id = v_note.batch_id AND q.job_id = ANY (v_job) AND q.gate_set_id <> 1;
        v_pools := v_free.pools;
        v_users := v_free.users;
        v_lanes := v_free.lanes;
        PERFORM weft._ring_gates(weft._set_gates(v_free.sets)) WHERE v_free.sets IS NOT NULL;
    END LOOP;
    PERFORM weft._announce(v_pools, v_users, v_lanes) WHERE v_pools IS NOT NULL;
    RETURN v_n;
END $$;
