-- _unpark_jobs: list parked jobs of a batch that no longer have a closed switch, before their gates if they
--   have some; one bounded step in order of their numbers.
-- Safe to repeat: yes.
-- Returns: the last number examined; NULL: there are no more.
-- Locks: ready_job (in key order); as _pass_gates.
-- Plan: ready_job by batch and number; jobs by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._unpark_jobs(of_batch_id bigint, after_job int, limit_jobs int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    v_first int;
    v_last int;
    v_job int[];
    v_free int[];
    v_sets int[];
BEGIN
    SELECT q.job_id
    INTO v_first
    FROM weft.ready_job q
    WHERE q.batch_id = of_batch_id AND q.job_id > after_job
    ORDER BY q.job_id
    LIMIT 1;
    IF v_first IS NULL THEN
        RETURN NULL;
    END IF;
    -- Those that are not parked stand among them, so the numbers are bounded as well.
    SELECT array_agg(l.job_id)
    INTO v_job
    FROM (
        SELECT q.job_id
        FROM weft.ready_job q
        WHERE q.batch_id = of_batch_id
            AND q.job_id BETWEEN v_first AND v_first::bigint + 20000
            AND q.gate_set_id = 1
        ORDER BY q.job_id
        LIMIT limit_jobs
        FOR UPDATE
    ) l;
    SELECT array_agg(x)
    INTO v_free
    FROM unnest(v_job) x
    CROSS JOIN LATERAL (
        SELECT y.group_id FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = x OFFSET 0
    ) j
    WHERE NOT weft._is_closed(of_batch_id, j.group_id, x);
    v_sets := weft._unpark(of_batch_id, v_free);
    v_last := CASE
        WHEN cardinality(v_job) = limit_jobs THEN v_job[limit_jobs]
        ELSE least(v_first::bigint + 20000, 2147483647)
    END;
    -- Jobs that were not parked yet: who passed their gates meanwhile left them out, and has told nobody.
    v_sets := v_sets || ARRAY(
        SELECT DISTINCT q.gate_set_id
        FROM weft.ready_job q
        WHERE q.batch_id = of_batch_id AND q.job_id BETWEEN v_first AND v_last AND q.gate_set_id > 1
    );
    IF v_sets <> '{}' THEN
        PERFORM weft._pass_gates(weft._set_gates(v_sets), true);
    END IF;
    RETURN v_last;
END $$;
