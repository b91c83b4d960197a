-- _settle_children: tell the children of ended jobs: one parent less; the last makes them ready, or cancelled if one did not succeed.
-- Called by: complete_attempts; sweep_cancelled works through the rest.   Safe to repeat: no; once per ended job.
-- Locks: the children's rows in key order, before they are changed.   Plan: edges by parent, jobs by key.
-- A job with many children is left to the sweep, which does it in bounded sets. So are the children of the children it cancels.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._settle_children(batch_ids bigint[], job_ids int[], states smallint[], at timestamptz)
RETURNS void LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_parents bigint[]; v_parent_jobs int[]; v_ok boolean[];
    v_total bigint;
BEGIN
    SELECT array_agg(t.b), array_agg(t.j), array_agg(t.s = 6), coalesce(sum(e.n), 0)
    INTO v_parents, v_parent_jobs, v_ok, v_total
    FROM unnest(_settle_children.batch_ids, _settle_children.job_ids, _settle_children.states) t (b, j, s)
    CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT FROM weft.edge e WHERE e.batch_id = t.b AND e.parent_id = t.j LIMIT 1001) x) e
    WHERE t.s >= 6 AND e.n > 0;
    IF v_total = 0 THEN
        RETURN;
    ELSIF v_total > 1000 THEN
        INSERT INTO weft.cascade (batch_id, job_id, tenant_id)
        SELECT p.b, p.j, b.tenant_id FROM unnest(v_parents, v_parent_jobs) p (b, j) JOIN weft.batch b ON b.batch_id = p.b
        ON CONFLICT DO NOTHING;
        RETURN;
    END IF;
    PERFORM weft._end_parents(array_agg(e.batch_id), array_agg(e.child_id), array_agg(p.ok), _settle_children.at)
    FROM unnest(v_parents, v_parent_jobs, v_ok) p (b, j, ok)
    JOIN weft.edge e ON e.batch_id = p.b AND e.parent_id = p.j;
END $$;
