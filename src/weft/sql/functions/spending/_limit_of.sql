-- _limit_of: the limit at which the billing project of a batch is paused; NULL: it is not.
-- Called by: _why_facts, why_group.   Safe to repeat: yes, it only reads.   Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._limit_of(of_batch_id bigint) RETURNS jsonb LANGUAGE sql STABLE
AS $$
    SELECT jsonb_build_object('project', p.name, 'cost_max', l.cost_max) FROM weft.group_hold h
    JOIN weft.spend_limit l ON l.limit_id = h.limit_id JOIN weft.billing_project p USING (project_id)
    WHERE h.batch_id = of_batch_id AND h.limit_id <> 0 AND h.released_at IS NULL
$$;
