-- _list_ready: put jobs that are ready (again) into ready_job, unless they are cancelled: then wake the sweep. Announces.
-- Called by: whatever makes single jobs ready.   Safe to repeat: yes.
-- Locks: none but its inserts; job rows are locked by the caller.   Plan: job, batch and queue by key.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._list_ready(batch_ids bigint[], job_ids int[], states smallint[], at timestamptz)
RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
    v_pools int[]; v_users int[];
BEGIN
    WITH ins AS (
        INSERT INTO weft.ready_job (pool_id, user_id, rank, batch_id, job_id, tenant_id)
        SELECT q.pool_id, b.user_id, -j.priority, j.batch_id, j.job_id, j.tenant_id
        FROM unnest(_list_ready.batch_ids, _list_ready.job_ids, _list_ready.states) t (b, j, s)
        JOIN weft.job j ON j.batch_id = t.b AND j.job_id = t.j
        JOIN weft.batch b ON b.batch_id = t.b
        JOIN weft.queue q ON q.queue_id = b.queue_id
        WHERE t.s = 1 AND j.listed
        ON CONFLICT DO NOTHING
        RETURNING pool_id, user_id)
    SELECT array_agg(DISTINCT i.pool_id), array_agg(DISTINCT i.user_id) INTO v_pools, v_users FROM ins i;
    -- A group that was swept already may have got a ready job again.
    UPDATE weft.group_cancel c SET swept = false, sweep_job = 0
    FROM (SELECT DISTINCT x FROM unnest(_list_ready.batch_ids) x) d
    WHERE c.batch_id = d.x AND c.swept;
    IF v_pools IS NULL THEN
        PERFORM weft._announce();
    ELSE
        PERFORM weft._announce(
            (SELECT array_agg(p) FROM unnest(v_pools) p, unnest(v_users) u), (SELECT array_agg(u) FROM unnest(v_pools) p, unnest(v_users) u));
    END IF;
END $$;
