-- _claim_queued: claim a job that _leave_queued has just made ready, and note which attempt became of its offer.
-- Called by: claim_offered.   Safe to repeat: no, as claim_jobs.   Plan: as _take_one; the offer by key.
-- Locks: as _take_one; as _note_starts; transport_offer (with the job).
-- Returns: as _record_claim; no row if it cannot be claimed after all: then it stays ready, without an offer.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._claim_queued(worker weft.worker_incarnation, of_batch_id bigint, of_job_id int, of_offer_id bigint,
    call bigint, at timestamptz)
RETURNS TABLE (
    batch_id bigint, job_id int, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu int,
    spec_first int, runnable_id bigint, chunk bytea
) LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_taken record;
BEGIN
    SELECT * INTO v_taken FROM weft._take_one(worker, of_batch_id, of_job_id);
    IF (v_taken.picked).job_ids IS NULL THEN
        DELETE FROM weft.transport_offer o WHERE o.offer_id = of_offer_id;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT * FROM weft._record_claim(v_taken.picked, v_taken.offer, worker.incarnation_id, worker.pool_id,
        weft._rate_card_at(_claim_queued.at), _claim_queued.call, true, _claim_queued.at);
    PERFORM weft._note_starts(of_batch_id, (v_taken.picked).job_ids);
    UPDATE weft.transport_offer o SET attempt = j.attempt
    FROM weft.job j WHERE o.offer_id = of_offer_id AND j.batch_id = o.batch_id AND j.job_id = o.job_id;
END $$;
