-- _release_machines: machines that go are no longer their jobs'. A job that still waits for one is ready
--   again, so another one is made; it ends as an error when SETTING_OWN_MACHINE_TRIES of them did not come,
--   and as much time has passed as one may take.
-- Safe to repeat: yes.
-- Locks: machine (SKIP LOCKED); reservation; job (in key order); as _count_failures; as _after_ends; as
--   _end_waiting_as_errors; as _announce.
-- Plan: machines that are some job's by machine_job_idx, those of one job by machine_jobs_idx; jobs by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._release_machines() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_ids int[];
    v_waiting int[];
    v_batch bigint[];
    v_job int[];
    v_one record;
    v_at timestamptz := clock_timestamp();
    v_failed_batch bigint[];
    v_failed_job int[];
    v_failed_why text[];
BEGIN
    SELECT array_agg(x.machine_id)
    INTO v_ids
    FROM (
        SELECT m.machine_id
        FROM weft.machine m
        WHERE m.for_batch_id IS NOT NULL AND m.released_at IS NULL AND m.state IN ('deleting', 'deleted')
        ORDER BY m.machine_id
        LIMIT 1000
        FOR NO KEY UPDATE SKIP LOCKED
    ) x;
    IF v_ids IS NULL THEN
        RETURN;
    END IF;
    DELETE FROM weft.reservation r
    USING weft.machine m
    WHERE m.machine_id = ANY (v_ids) AND r.batch_id = m.for_batch_id AND r.job_id = m.for_job_id;
    SELECT array_agg(x.machine_id) FILTER (WHERE x.state = STATE_CREATING)
    INTO v_waiting
    FROM (
        SELECT m.machine_id, j.state
        FROM weft.job j
        JOIN weft.machine m ON m.for_batch_id = j.batch_id AND m.for_job_id = j.job_id
        WHERE m.machine_id = ANY (v_ids)
        ORDER BY j.batch_id, j.job_id
        FOR UPDATE OF j
    ) x;
    UPDATE weft.machine m
    SET released_at = v_at, missed = m.machine_id = ANY (coalesce(v_waiting, '{}'))
    WHERE m.machine_id = ANY (v_ids);
    FOR v_one IN
        SELECT
            m.for_batch_id AS batch_id,
            m.for_job_id AS job_id,
            m.reason,
            t.n,
            t.n >= SETTING_OWN_MACHINE_TRIES
                AND t.first_at <= v_at - (p.plan ->> 'stale_s')::float8 * interval '1 second' AS ends
        FROM weft.machine m
        JOIN weft.pool p
        USING (pool_id)
        CROSS JOIN LATERAL (
            SELECT count(*) AS n, min(o.created_at) AS first_at
            FROM weft.machine o
            WHERE o.missed AND o.for_batch_id = m.for_batch_id AND o.for_job_id = m.for_job_id
        ) t
        WHERE m.machine_id = ANY (v_waiting)
        ORDER BY ends, m.for_batch_id, m.for_job_id
    LOOP
        IF v_one.ends THEN
            v_failed_batch := v_failed_batch || v_one.batch_id;
            v_failed_job := v_failed_job || v_one.job_id;
            v_failed_why := v_failed_why || format(
                '%s machines of its own did not come; of the last one: %s', v_one.n, left(v_one.reason, 500)
            );
        ELSE
            PERFORM weft._turn_creating(v_one.batch_id, v_one.job_id, false, left(v_one.reason, 500), v_at);
            v_batch := v_batch || v_one.batch_id;
            v_job := v_job || v_one.job_id;
        END IF;
    END LOOP;
    IF v_failed_job IS NOT NULL THEN
        PERFORM weft._count_failures(
            v_failed_batch,
            v_failed_job,
            array_fill(STATE_ERROR::smallint, ARRAY[cardinality(v_failed_job)]),
            v_at
        );
    END IF;
    IF v_batch IS NOT NULL THEN
        PERFORM weft._after_ends(
            NULL,
            v_batch,
            v_job,
            array_fill(STATE_READY::smallint, ARRAY[cardinality(v_job)]),
            true, false, false, v_at, v_at
        );
    END IF;
    IF v_failed_job IS NOT NULL THEN
        PERFORM weft._end_waiting_as_errors(t.b, ARRAY[t.j], v_at, 'machine', t.why)
        FROM unnest(v_failed_batch, v_failed_job, v_failed_why) t (b, j, why);
        PERFORM weft._announce();
    END IF;
END $$;
