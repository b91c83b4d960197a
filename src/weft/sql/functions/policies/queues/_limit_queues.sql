-- _limit_queues: tell the gates of a tenant's queues what their limits are.
-- Called by: save_queues.   Safe to repeat: yes.   Locks: as _tell_limits.
-- Plan: gates by kind and key, at most one for each user of a queue.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._limit_queues(of_tenant_id int) RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT weft._tell_limits(array_agg(x.gate_id), array_agg(x.places)) FROM (
        SELECT g.gate_id, q.max_running AS places
        FROM weft.queue q JOIN weft.gate g ON g.kind = 'queue' AND g.key = concat('t', of_tenant_id, '/', q.name)
        WHERE q.tenant_id = of_tenant_id
        UNION ALL
        SELECT g.gate_id, q.max_running_per_user
        FROM weft.queue q JOIN weft.gate g ON g.kind = 'queue_user' AND starts_with(g.key, concat('t', of_tenant_id, '/', q.name, '/'))
        WHERE q.tenant_id = of_tenant_id) x
$$;
