-- list_queues: the queues of a tenant in the order of routing, with how many jobs wait and run in each.
-- Called by: Store.list_queues (api).   Safe to repeat: yes, it only reads.   Plan: queues of the tenant, which are few; as _queue_counts.
-- with_counts: NULL counts otherwise, for routing.   Returns: documents; `default` is the last one.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_queues(tenant_id int, with_counts boolean) RETURNS SETOF jsonb LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM weft._as_tenant(list_queues.tenant_id);
    RETURN QUERY
    SELECT jsonb_build_object(
        'name', q.name, 'priority', q.priority, 'guard', q.guard, 'pools', q.pools, 'executor', q.executor, 'users', q.users,
        'state', CASE WHEN q.state = 'draining' AND with_counts AND coalesce(c.n_waiting + c.n_running, 0) = 0 THEN 'closed'
            ELSE q.state END,
        'max_running', q.max_running, 'max_running_per_user', q.max_running_per_user, 'max_waiting', q.max_waiting,
        'transport', q.transport, 'monitor', q.monitor, 'n_waiting', CASE WHEN with_counts THEN coalesce(c.n_waiting, 0) END,
        'n_running', CASE WHEN with_counts THEN coalesce(c.n_running, 0) END)
    FROM weft.queue q
    LEFT JOIN (SELECT x.* FROM weft._queue_counts(list_queues.tenant_id) x WHERE with_counts) c ON c.queue = q.name
    ORDER BY q.priority DESC NULLS LAST, q.name;
END $$;
