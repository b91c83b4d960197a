-- _record_job_share: record in the history of a job with whom it was shared, and tell listeners. Announces.
-- Safe to repeat: no.   Locks: as _announce.   Plan: by key.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._record_job_share(of_batch_id bigint, of_job_id int, of_kind text, actor text, message text,
    at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO weft.job_change (batch_id, job_id, tenant_id, at, from_state, to_state, actor, subtype, message)
    SELECT j.batch_id, j.job_id, j.tenant_id, _record_job_share.at, j.state, j.state, _record_job_share.actor, of_kind,
        _record_job_share.message
    FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = of_job_id;
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, jobs)
    SELECT _record_job_share.at, b.tenant_id, b.batch_id, 'jobs.' || of_kind, ARRAY[of_job_id] FROM weft.batch b
    WHERE b.batch_id = of_batch_id;
    PERFORM weft._announce();
END $$;
