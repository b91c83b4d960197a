-- _leave_children: leave it to the sweep to tell the children of these jobs of their ends; NULL: of none.
-- Safe to repeat: yes.
-- Locks: none but its inserts.
-- Plan: batches by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._leave_children(batch_ids bigint[], job_ids int[]) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO weft.cascade (batch_id, job_id, tenant_id)
    SELECT p.b, p.j, b.tenant_id
    FROM unnest(batch_ids, job_ids) p (b, j)
    JOIN weft.batch b ON b.batch_id = p.b
    ON CONFLICT DO NOTHING
$$;
