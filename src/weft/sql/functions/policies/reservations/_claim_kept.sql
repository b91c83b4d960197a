-- _claim_kept: claim the job that a worker is kept for, whatever comes before that job and whatever is free.
-- Safe to repeat: no, as claim_jobs.
-- Locks: batch (shared, tried); as _leave_creating; as _take_one; as _note_starts.
-- Plan: as _leave_creating and _take_one. It runs with the settings of its caller.
-- Returns: as _record_claim; no row if the job does not wait any more, is locked, or needs amounts of its
--   lane that are not free yet.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._claim_kept(
    worker weft.worker_incarnation, kept weft.reservation, rate_card_id smallint, call bigint, at timestamptz
) RETURNS TABLE (
    batch_id bigint,
    job_id int,
    attempt smallint,
    cpu_m bigint,
    memory_mib bigint,
    storage_mib bigint,
    gpu int,
    spec_first int,
    runnable_id bigint,
    chunk bytea
) LANGUAGE plpgsql AS $$
DECLARE
    v_taken record;
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(kept.batch_id) THEN
        RETURN;
    END IF;
    PERFORM weft._leave_creating(worker, kept.batch_id, kept.job_id);
    SELECT * INTO v_taken FROM weft._take_one(worker, kept.batch_id, kept.job_id);
    IF (v_taken.picked).job_ids IS NOT NULL THEN
        RETURN QUERY
        SELECT *
        FROM weft._record_claim(
            v_taken.picked,
            v_taken.offer,
            worker.incarnation_id,
            worker.pool_id,
            _claim_kept.rate_card_id,
            _claim_kept.call,
            true,
            _claim_kept.at
        );
        IF (v_taken.offer).runnable_id = 0 THEN
            PERFORM weft._note_starts(kept.batch_id, (v_taken.picked).job_ids);
        END IF;
    END IF;
END $$;
