-- _job_costs: cost and usage of one job by resource, of all its attempts, the live one included.
-- Called by: list_job_entries.   Safe to repeat: yes, it only reads.   Plan: by key.
-- Returns: one row, or none if no attempt has started.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._job_costs(of_batch_id bigint, of_job_id int) RETURNS TABLE (cost numeric, cost_by_resource jsonb)
LANGUAGE sql STABLE
AS $$
    SELECT c.cost, c.cost_by_resource
    FROM (SELECT array_agg(0::bigint) AS owners, array_agg(x.rate_card_id) AS cards, array_agg(x.shape_id) AS shapes,
              array_agg(x.ms::numeric) AS mss
          FROM (SELECT a.rate_card_id, a.shape_id, weft._ms_between(a.started_at, a.ended_at) AS ms FROM weft.attempt a
                WHERE a.batch_id = of_batch_id AND a.job_id = of_job_id AND a.started_at IS NOT NULL
                UNION ALL
                SELECT j.rate_card_id, j.shape_id, weft._ms_between(j.started_at, clock_timestamp()) FROM weft.job j
                WHERE j.batch_id = of_batch_id AND j.job_id = of_job_id AND j.state = STATE_RUNNING AND j.started_at IS NOT NULL) x) u
    CROSS JOIN LATERAL weft._costs_of_usage(u.owners, u.cards, u.shapes, u.mss) c
$$;
