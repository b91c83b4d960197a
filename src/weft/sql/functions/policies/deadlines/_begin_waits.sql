-- _begin_waits: date the timeouts of those of these jobs that wait for somebody from now on, because their
--   parents have ended.
-- Safe to repeat: no.
-- For: _after_visible, _before_offer, which tell the driver.
-- Locks: job (by the caller); deadline (nobody else).
-- Plan: deadlines and jobs by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._begin_waits(of_batch_id bigint, of_job_ids int[], at timestamptz)
RETURNS void LANGUAGE sql AS $$
    UPDATE weft.job_deadline d
    SET
        latest_start = _begin_waits.at + d.timeout,
        deadline = _begin_waits.at + d.timeout,
        due_at = _begin_waits.at + d.timeout
    WHERE d.batch_id = of_batch_id
        AND d.first_job = ANY (of_job_ids)
        AND d.timeout IS NOT NULL
        AND (SELECT j.state FROM weft.job j WHERE j.batch_id = d.batch_id AND j.job_id = d.first_job) =
            STATE_READY
$$;
