-- due_callbacks: the callbacks to send now, besides those being sent (`busy`).
-- Safe to repeat: yes: a driver that dies while sending leaves the delivery due.
-- Locks: as _check_epoch; as _put_behind.
-- Plan: from one (tenant, host) to the next by index, the first few of each, so that neither a host that
--   hangs nor a tenant with many such hosts blocks the others. Hosts and tenants have at most their limit
--   being sent. A message that waits for one before it is met once, however long it waits: then it is behind.
-- Returns: deliveries, tenants in turn, the longest due first; door, key: through which their batch came, and
--   its idempotency key then; job_id, sink: of a message, with the name of the tenant and `sealed` as
--   _secrets_of; subscription: of a notice, name and policy. One with an order waits for those before it.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.due_callbacks(
    epoch bigint,
    busy bigint[],
    limit_all int,
    limit_tenant int,
    limit_host int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    delivery_id bigint,
    name uuid,
    tenant_id int,
    batch_id bigint,
    group_id int,
    url text,
    body text,
    n_attempts int,
    age interval,
    sent_at bigint,
    door text,
    key text,
    job_id int,
    sink jsonb,
    subscription jsonb
) LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_limit int := limit_host;
    v_heads bigint[];
    v_waiting bigint[];
BEGIN
    PERFORM weft._check_term(due_callbacks.epoch);
    LOOP
        SELECT
            array_agg(h.delivery_id) FILTER (WHERE NOT h.waits),
            array_agg(h.delivery_id) FILTER (WHERE h.waits)
        INTO v_heads, v_waiting
        FROM weft._heads_of_hosts(due_callbacks.busy, v_limit, due_callbacks.at) h;
        EXIT WHEN v_waiting IS NULL;
        PERFORM weft._check_epoch(due_callbacks.epoch);  -- from here on something is written
        EXIT WHEN weft._put_behind(v_waiting) = 0;
        v_limit := 10000;  -- there may be many more behind them
    END LOOP;
    RETURN QUERY
    WITH sending AS MATERIALIZED (
        SELECT d.tenant_id, d.host
        FROM unnest(due_callbacks.busy) x
        JOIN weft.callback_delivery d ON d.delivery_id = x
    ),
    head AS (
        SELECT
            d.delivery_id,
            d.tenant_id,
            d.next_at,
            row_number() OVER (PARTITION BY d.tenant_id, d.host ORDER BY d.next_at)
                + (SELECT count(*) FROM sending s WHERE s.tenant_id = d.tenant_id AND s.host = d.host) AS n
        FROM unnest(v_heads) x
        JOIN weft.callback_delivery d ON d.delivery_id = x
    ),
    turn AS (
        SELECT
            h.delivery_id,
            h.tenant_id,
            h.next_at,
            row_number() OVER (PARTITION BY h.tenant_id ORDER BY h.next_at, h.delivery_id)
                + (SELECT count(*) FROM sending s WHERE s.tenant_id = h.tenant_id) AS n
        FROM head h
        WHERE h.n <= due_callbacks.limit_host
    ),
    chosen AS (
        SELECT t.*
        FROM turn t
        WHERE t.n <= due_callbacks.limit_tenant
        ORDER BY t.n, t.next_at, t.delivery_id
        LIMIT greatest(0, due_callbacks.limit_all - cardinality(due_callbacks.busy))
    )
    SELECT
        d.delivery_id, d.name, d.tenant_id, d.batch_id, d.group_id, d.url, d.body, d.n_attempts,
        due_callbacks.at - d.created_at,
        floor(date_part('epoch', due_callbacks.at))::bigint,
        b.door,
        CASE WHEN b.door IS NOT NULL THEN b.idempotency_key END,
        d.job_id,
        (
            SELECT s.document || jsonb_build_object(
                'tenant', t.name,
                'held', d.held,
                'sealed', weft._secrets_of(s.tenant_id, s.user_id, s.document::text || d.url)
            )
            FROM weft.sink s
            JOIN weft.tenant t
            USING (tenant_id)
            WHERE s.sink_id = d.sink_id
        ),
        (
            SELECT jsonb_build_object('name', s.name, 'policy', s.policy)
            FROM weft.subscription s
            WHERE s.subscription_id = d.subscription_id
        )
    FROM chosen c
    JOIN weft.callback_delivery d ON d.delivery_id = c.delivery_id
    JOIN LATERAL (SELECT y.door, y.idempotency_key FROM weft.batch y WHERE y.batch_id = d.batch_id OFFSET 0) b
        ON true
    ORDER BY c.n, c.next_at, c.delivery_id;
END $$;
