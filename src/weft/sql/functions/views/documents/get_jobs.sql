-- get_jobs: documents of these jobs of a batch, as far as they are committed, in order of their numbers.
-- For: Store.query_jobs (api), after the statement of a query, whose plan settings do not suit this one.
-- Safe to repeat: yes, it only reads.
-- Plan: everything by key.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_jobs(tenant_id int, batch_id bigint, job_ids int[]) RETURNS SETOF jsonb
LANGUAGE plpgsql PLAN_BY_INDEX PLAN_ONCE SET enable_bitmapscan = on SET enable_hashagg = on SET enable_sort =
    on AS $$
DECLARE
    v_ids int[];
BEGIN
    PERFORM weft._check_batch(get_jobs.batch_id);
    SELECT array_agg(j.job_id)
    INTO v_ids
    FROM unnest(get_jobs.job_ids) t
    CROSS JOIN LATERAL (
        SELECT x.job_id, x.update_id
        FROM weft.job x
        WHERE x.batch_id = get_jobs.batch_id AND x.job_id = t
        OFFSET 0
    ) j
    WHERE (
        SELECT u.committed_at IS NOT NULL
        FROM weft.batch_update u
        WHERE u.batch_id = get_jobs.batch_id AND u.update_id = j.update_id
    );
    RETURN QUERY SELECT d.document FROM weft._job_documents(get_jobs.batch_id, v_ids) d ORDER BY d.job_id;
END $$;
