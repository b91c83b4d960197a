-- _why_gone: why the bytes of a file that a job has from one of another batch are not kept any more; NULL:
--   they are, or are its own.
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._why_gone(from_batch bigint) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT o.why FROM weft.output_term o WHERE o.batch_id = from_batch AND o.removed_at IS NOT NULL),
        CASE
            WHEN NOT EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = from_batch AND b.deleted_at IS NULL)
                THEN format('The job of batch b%s that left them is deleted.', from_batch)
        END
    )
    WHERE from_batch IS NOT NULL
$$;
