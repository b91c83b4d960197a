-- _take_back: close admissions of these limits that are of no use: of attempts that were claimed or ended;
--   and, so that others may start, of those that no worker claims. Such jobs are parked again.
-- Safe to repeat: yes, those that are claimed or locked are left.
-- Locks: job (SKIP LOCKED: a claim holds it); admission (nobody else); as _park_jobs.
-- Plan: open admissions by the index of their limit; jobs by key.
-- before: those that were admitted earlier are taken back; NULL: none.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._take_back(of_limit_ids int[], before timestamptz, limit_jobs int)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint;
    v_batches bigint[];
    v_jobs int[];
BEGIN
    UPDATE weft.admission a
    SET open = false
    FROM (
        SELECT x.ctid AS tid
        FROM weft.admission x
        CROSS JOIN LATERAL (
            SELECT y.state, y.attempt
            FROM weft.job y
            WHERE y.batch_id = x.batch_id AND y.job_id = x.job_id
            OFFSET 0
        ) j
        WHERE x.limit_id = ANY (of_limit_ids)
            AND x.open
            AND (j.state <> STATE_READY OR j.attempt >= x.attempt)
    ) t
    WHERE a.ctid = t.tid;
    SELECT array_agg(l.batch_id), array_agg(l.job_id)
    INTO v_batches, v_jobs
    FROM (
        SELECT DISTINCT x.batch_id, x.job_id
        FROM weft.admission x
        WHERE x.limit_id = ANY (of_limit_ids) AND x.open AND x.admitted_at < before
        ORDER BY 1, 2
        LIMIT limit_jobs
    ) o
    CROSS JOIN LATERAL (
        SELECT y.batch_id, y.job_id
        FROM weft.job y
        WHERE y.batch_id = o.batch_id AND y.job_id = o.job_id AND y.state = STATE_READY
        FOR NO KEY UPDATE SKIP LOCKED
    ) l;
    FOREACH v_batch IN ARRAY ARRAY(SELECT DISTINCT b FROM unnest(v_batches) b ORDER BY b) LOOP
        UPDATE weft.admission a
        SET open = false
        WHERE a.batch_id = v_batch
            AND a.open
            AND a.job_id = ANY (
                ARRAY(SELECT t.j FROM unnest(v_batches, v_jobs) t (b, j) WHERE t.b = v_batch)
            );
        PERFORM weft._park_jobs(
            v_batch, ARRAY(SELECT t.j FROM unnest(v_batches, v_jobs) t (b, j) WHERE t.b = v_batch)
        );
    END LOOP;
END $$;
