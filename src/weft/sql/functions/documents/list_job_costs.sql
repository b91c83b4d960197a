-- list_job_costs: what these jobs of a batch cost so far, by resource.
-- Called by: Store.list_job_costs (api).   Safe to repeat: yes, it only reads.   Locks: none.   Plan: attempts and jobs by key.
-- Raises WF101.   Returns: the number and the costs of each job of which an attempt has started, in no fixed order.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_job_costs(tenant_id int, batch_id bigint, job_ids int[])
RETURNS TABLE (job_id int, cost_by_resource jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    v_job bigint[]; v_card smallint[]; v_shape int[]; v_ms numeric[];
BEGIN
    PERFORM weft._as_tenant(list_job_costs.tenant_id);
    PERFORM weft._check_batch(list_job_costs.batch_id);
    SELECT array_agg(x.job_id), array_agg(x.rate_card_id), array_agg(x.shape_id), array_agg(x.ms) INTO v_job, v_card, v_shape, v_ms
    FROM (
        SELECT a.job_id, a.rate_card_id, a.shape_id, weft._ms_between(a.started_at, a.ended_at) AS ms
        FROM unnest(list_job_costs.job_ids) t CROSS JOIN LATERAL (
            SELECT y.* FROM weft.attempt y WHERE y.batch_id = list_job_costs.batch_id AND y.job_id = t OFFSET 0) a
        WHERE a.started_at IS NOT NULL
        UNION ALL
        SELECT j.job_id, j.rate_card_id, j.shape_id, weft._ms_between(j.started_at, clock_timestamp())
        FROM unnest(list_job_costs.job_ids) t CROSS JOIN LATERAL (
            SELECT y.* FROM weft.job y WHERE y.batch_id = list_job_costs.batch_id AND y.job_id = t OFFSET 0) j
        WHERE j.state = STATE_RUNNING AND j.started_at IS NOT NULL) x;
    RETURN QUERY SELECT c.owner::int, c.cost_by_resource FROM weft._costs_of_usage(v_job, v_card, v_shape, v_ms) c;
END $$;
