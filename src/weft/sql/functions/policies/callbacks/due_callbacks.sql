-- due_callbacks: the callbacks to send now, besides those being sent (`busy`).
-- Called by: DriverStore.due_callbacks.   Safe to repeat: yes, it only reads: a driver that dies while sending leaves the delivery due.
-- Locks: as _check_epoch.
-- Plan: from one (tenant, host) to the next by index, the first few of each, so that neither a host that hangs nor a tenant with
--   many such hosts blocks the others. Hosts and tenants have at most their limit being sent.
-- Returns: deliveries, tenants in turn, the longest due first; door, key: through which their batch came, and its idempotency key
--   then; job_id, sink: of a message, with the name of the tenant and `sealed` as _secrets_of; subscription: of a notice, name and
--   policy. One with an order waits for those before it.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.due_callbacks(epoch bigint, busy bigint[], limit_all int, limit_tenant int, limit_host int,
    at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (delivery_id bigint, name uuid, tenant_id int, batch_id bigint, group_id int, url text, body text, n_attempts int,
    age interval, sent_at bigint, door text, key text, job_id int, sink jsonb, subscription jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
PLAN_BY_KEY
AS $$
#variable_conflict use_column
BEGIN
    PERFORM weft._check_epoch(due_callbacks.epoch);
    RETURN QUERY
    WITH RECURSIVE place AS (
        (SELECT d.tenant_id, d.host FROM weft.callback_delivery d WHERE d.next_at IS NOT NULL ORDER BY d.tenant_id, d.host LIMIT 1)
        UNION ALL
        SELECT n.tenant_id, n.host FROM place p CROSS JOIN LATERAL (
            SELECT d.tenant_id, d.host FROM weft.callback_delivery d
            WHERE d.next_at IS NOT NULL AND (d.tenant_id, d.host) > (p.tenant_id, p.host) ORDER BY d.tenant_id, d.host LIMIT 1) n),
    sending AS MATERIALIZED (
        SELECT d.tenant_id, d.host FROM unnest(due_callbacks.busy) x JOIN weft.callback_delivery d ON d.delivery_id = x),
    head AS (
        SELECT d.delivery_id, d.tenant_id, d.next_at FROM place p CROSS JOIN LATERAL (
            SELECT y.delivery_id, y.tenant_id, y.next_at FROM weft.callback_delivery y
            WHERE y.tenant_id = p.tenant_id AND y.host = p.host AND y.next_at <= due_callbacks.at
                AND y.delivery_id <> ALL (due_callbacks.busy)
                AND (y.order_key IS NULL OR NOT EXISTS (SELECT FROM weft.callback_delivery o WHERE o.sink_id = y.sink_id
                    AND o.order_key = y.order_key AND o.delivery_id < y.delivery_id AND o.next_at IS NOT NULL))
                AND (y.subscription_id IS NULL OR NOT EXISTS (SELECT FROM weft.callback_delivery o
                    WHERE o.subscription_id = y.subscription_id AND o.delivery_id < y.delivery_id AND o.next_at IS NOT NULL
                        AND (o.n_attempts = 0 OR y.order_key IS NOT NULL)))
            ORDER BY y.next_at
            LIMIT greatest(0, due_callbacks.limit_host - (SELECT count(*) FROM sending s WHERE s.tenant_id = p.tenant_id
                AND s.host = p.host))) d),
    turn AS (
        SELECT h.*, row_number() OVER (PARTITION BY h.tenant_id ORDER BY h.next_at, h.delivery_id)
                    + (SELECT count(*) FROM sending s WHERE s.tenant_id = h.tenant_id) AS n FROM head h),
    chosen AS (
        SELECT t.* FROM turn t WHERE t.n <= due_callbacks.limit_tenant ORDER BY t.n, t.next_at, t.delivery_id
        LIMIT greatest(0, due_callbacks.limit_all - cardinality(due_callbacks.busy)))
    SELECT d.delivery_id, d.name, d.tenant_id, d.batch_id, d.group_id, d.url, d.body, d.n_attempts, due_callbacks.at - d.created_at,
           floor(date_part('epoch', due_callbacks.at))::bigint, b.door, CASE WHEN b.door IS NOT NULL THEN b.idempotency_key END,
           d.job_id, (SELECT s.document || jsonb_build_object('tenant', t.name, 'held', d.held,
                   'sealed', weft._secrets_of(s.tenant_id, s.user_id, s.document::text || d.url))
               FROM weft.sink s JOIN weft.tenant t USING (tenant_id) WHERE s.sink_id = d.sink_id),
           (SELECT jsonb_build_object('name', s.name, 'policy', s.policy) FROM weft.subscription s
               WHERE s.subscription_id = d.subscription_id)
    FROM chosen c JOIN weft.callback_delivery d ON d.delivery_id = c.delivery_id
    JOIN LATERAL (SELECT y.door, y.idempotency_key FROM weft.batch y WHERE y.batch_id = d.batch_id OFFSET 0) b ON true
    ORDER BY c.n, c.next_at, c.delivery_id;
END $$;
