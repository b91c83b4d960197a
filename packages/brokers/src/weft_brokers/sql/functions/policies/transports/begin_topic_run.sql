-- begin_topic_run: as begin_run, and note whose run it is: of a job that is none of weft's batches, which
--   have attempts instead.
-- Safe to repeat: yes, as begin_run.
-- Locks: as begin_run; topic_run (the same row).
-- Plan: by key; the batch by batch_foreign_idx.
-- of_tenant: whose topics the record came over, by name.
-- record: job_id, trace_id, event_id as it says them, and the door of its set.
--   NULL: nothing is noted.
-- Returns: as begin_run.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.begin_topic_run(
    of_event_id uuid,
    owner text,
    keep_s double precision,
    of_tenant text,
    record jsonb,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (answer text, error text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT b.* FROM weft.begin_run(of_event_id, begin_topic_run.owner, keep_s, begin_topic_run.at) b;
    UPDATE weft.topic_run r
    SET
        tenant_id = t.tenant_id,
        job_id = record ->> 'job_id',
        trace_id = record ->> 'trace_id',
        record_id = (record ->> 'event_id')::uuid
    FROM weft.tenant t
    WHERE r.event_id = of_event_id
        AND r.tenant_id IS NULL
        AND t.name = of_tenant
        AND record IS NOT NULL
        AND NOT EXISTS (
            SELECT
            FROM weft.batch b
            WHERE b.tenant_id = t.tenant_id
                AND b.door = record ->> 'door'
                AND b.foreign_id = record ->> 'job_id'
        );
END $$;
