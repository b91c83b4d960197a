-- _limit_queues: tell the gates of a tenant's queues what their limits are.
-- Safe to repeat: yes.
-- Locks: as _tell_limits.
-- Plan: as _queue_limits; gates by kind and key, at most one for each user of a queue.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._limit_queues(of_tenant_id int) RETURNS void
LANGUAGE sql SECURITY DEFINER AS $$
    SELECT weft._tell_limits(array_agg(x.gate_id), array_agg(x.places))
    FROM (
        SELECT g.gate_id, l.places
        FROM weft._queue_limits(of_tenant_id) l
        JOIN weft.gate g ON g.kind = l.kind AND g.key = weft._gate_key(l.owner, of_tenant_id, NULL, l.queue)
        WHERE NOT l.each_user
        UNION ALL
        SELECT g.gate_id, l.places
        FROM weft._queue_limits(of_tenant_id) l
        JOIN weft.gate g ON g.kind = l.kind
            AND starts_with(g.key, weft._gate_key(l.owner, of_tenant_id, NULL, l.queue || '/'))
        WHERE l.each_user
    ) x
$$;
