-- _may_open: lock these batches against cancels and holds, and return those in which ready jobs may get a
--   range of their own.
-- Safe to repeat: yes.
-- Locks: batch (shared, tried). A concurrent cancel or hold must find the jobs listed.
-- Plan: by key.
-- If part of a batch is cancelled or held, its sweeps expect listed jobs only. A job whose deadline the
--   driver has not looked at yet must not be claimed if it is late, which only listing sees.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._may_open(batch_ids bigint[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint[];
BEGIN
    SELECT array_agg(b)
    INTO v_batch
    FROM unnest(_may_open.batch_ids) b
    WHERE pg_try_advisory_xact_lock_shared(b);
    -- After the locks: a cancel or hold not seen here commits after us.
    RETURN (
        SELECT array_agg(b)
        FROM unnest(v_batch) b
        WHERE NOT EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = b)
            AND NOT EXISTS (
                SELECT FROM weft.job_deadline d WHERE d.batch_id = b AND d.due_at <= clock_timestamp()
            )
            AND NOT EXISTS (SELECT FROM weft._switches(b))
    );
END $$;
