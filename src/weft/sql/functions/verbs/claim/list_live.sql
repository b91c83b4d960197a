-- list_live: the live attempts of an incarnation, as claim_jobs returned them.
-- Plan: as _live_attempts.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_live(incarnation_id int) RETURNS TABLE (
    batch_id bigint,
    job_id int,
    attempt smallint,
    cpu_m bigint,
    memory_mib bigint,
    storage_mib bigint,
    gpu int,
    spec_first int
) LANGUAGE sql STABLE AS $$
    SELECT j.batch_id, j.job_id, j.attempt, s.cpu_m, s.memory_mib, s.storage_mib, s.gpu, j.spec_first
    FROM weft._live_attempts(list_live.incarnation_id) j
    JOIN weft.shape s
    USING (shape_id)
    ORDER BY j.claimed_at, j.batch_id, j.job_id
$$;
