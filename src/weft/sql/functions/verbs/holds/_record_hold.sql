-- _record_hold: record a hold or release of single jobs with its time and actor, and notify listeners.
--   Announces.
-- Safe to repeat: no.
-- Locks: as _announce.
-- Plan: jobs by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._record_hold(
    of_batch_id bigint, of_job_ids int[], of_kind text, actor text, at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF of_job_ids IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO weft.job_change (batch_id, job_id, tenant_id, at, from_state, to_state, actor, subtype)
    SELECT j.batch_id, j.job_id, j.tenant_id, _record_hold.at, j.state, j.state, _record_hold.actor, of_kind
    FROM weft.job j
    WHERE j.batch_id = of_batch_id AND j.job_id = ANY (of_job_ids);
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, jobs)
    SELECT _record_hold.at, b.tenant_id, b.batch_id, 'jobs.' || of_kind, of_job_ids
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id;
    PERFORM weft._announce();
END $$;
