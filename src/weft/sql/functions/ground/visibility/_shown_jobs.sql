-- _shown_jobs: those of these jobs of a batch that the caller of this transaction sees: all, or those that
--   were granted to them.
-- Plan: batch by key; grants of the caller on jobs of this batch by index.
-- Returns: NULL if there is none.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._shown_jobs(of_batch_id bigint, of_job_ids int[]) RETURNS int[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF weft._sees_batch(of_batch_id) THEN
        RETURN of_job_ids;
    END IF;
    RETURN (
        SELECT array_agg(g.job_id ORDER BY g.job_id)
        FROM weft.batch_grant g
        WHERE g.user_id = weft._caller_id()
            AND g.batch_id = of_batch_id
            AND g.job_id > 0
            AND g.job_id = ANY (of_job_ids)
    );
END $$;
