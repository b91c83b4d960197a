-- _open_batches: numbers of a billing project's batches that may have jobs which have not ended.
-- Called by: _pause_for_limit, _cancel_for_limit, weigh_users.   Safe to repeat: yes, it only reads.
-- Plan: sums of the tenant's open batches by index, and the deltas that are not folded; batches by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._open_batches(of_tenant_id int, of_project_id int) RETURNS SETOF bigint LANGUAGE sql STABLE
AS $$
    SELECT b.batch_id FROM (
        SELECT c.batch_id FROM weft.group_count c WHERE c.tenant_id = of_tenant_id AND c.group_id = 0 AND NOT c.complete
        UNION
        SELECT d.batch_id FROM weft.fold f
        JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(d.xid, f.upto)
        WHERE d.tenant_id = of_tenant_id) x
    CROSS JOIN LATERAL (SELECT y.* FROM weft.batch y WHERE y.batch_id = x.batch_id OFFSET 0) b
    WHERE b.project_id = of_project_id AND NOT b.removing
$$;
