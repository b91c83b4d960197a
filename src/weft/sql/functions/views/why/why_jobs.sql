-- why_jobs: what keeps these jobs of a batch from running (_why_facts); those that are not committed are left
--   out.
-- Safe to repeat: yes, it only reads.
-- Plan: as _why_facts.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.why_jobs(tenant_id int, batch_id bigint, job_ids int[]) RETURNS SETOF jsonb
LANGUAGE plpgsql PLAN_BY_INDEX PLAN_ONCE AS $$
BEGIN
    PERFORM weft._check_batch(why_jobs.batch_id);
    RETURN QUERY
    SELECT w.facts
    FROM weft._why_facts(
        why_jobs.batch_id,
        ARRAY(
            SELECT j.job_id
            FROM unnest(why_jobs.job_ids) t
            CROSS JOIN LATERAL (
                SELECT x.job_id, x.update_id
                FROM weft.job x
                WHERE x.batch_id = why_jobs.batch_id AND x.job_id = t
                OFFSET 0
            ) j
            WHERE (
                SELECT u.committed_at IS NOT NULL
                FROM weft.batch_update u
                WHERE u.batch_id = why_jobs.batch_id AND u.update_id = j.update_id
            )
        )
    ) w
    ORDER BY w.job_id;
END $$;
