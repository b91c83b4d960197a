-- _queue_limits: what each queue of a tenant says of each kind of gate that limits queues.
-- Plan: inlined; queues of the tenant, which are few.
-- places: NULL: no limit.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._queue_limits(of_tenant_id int)
RETURNS TABLE (queue text, kind text, owner text, each_user boolean, places int) LANGUAGE sql STABLE AS $$
    SELECT q.name, k.kind, k.owner, k.each_user, (q.limits ->> k.queue_field)::int
    FROM weft.queue q
    CROSS JOIN weft._gate_kinds() k
    WHERE q.tenant_id = of_tenant_id AND k.limited_by = 'queue'
$$;
