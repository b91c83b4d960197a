-- get_condition: what is known of a condition, and some of its jobs that the caller sees, those that are due first.
-- Called by: Store.get_condition (api).   Safe to repeat: yes, it only reads.   Plan: by key; jobs by date, until there are limit_jobs,
--   of a hundred times as many.
-- Raises WF116.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_condition(tenant_id int, of_condition_id bigint, limit_jobs int) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    v_found jsonb;
BEGIN
    PERFORM weft._as_tenant(get_condition.tenant_id);
    SELECT weft._condition_document(c) || jsonb_build_object('jobs', (
        SELECT coalesce(jsonb_agg(jsonb_build_object('batch_id', j.batch_id, 'job_id', j.job_id, 'blocked_at', j.blocked_at,
            'next_at', j.next_at) ORDER BY j.next_at, j.batch_id, j.job_id), '[]')
        FROM (SELECT k.* FROM (
                SELECT x.* FROM weft.blocked_job x WHERE x.condition_id = c.condition_id ORDER BY x.next_at LIMIT 100 * limit_jobs) k
            WHERE weft._sees_batch(k.batch_id) ORDER BY k.next_at LIMIT limit_jobs) j))
    INTO v_found FROM weft.condition c WHERE c.condition_id = of_condition_id;
    IF v_found IS NULL THEN
        PERFORM weft._no_condition(of_condition_id);
    END IF;
    RETURN v_found;
END $$;
