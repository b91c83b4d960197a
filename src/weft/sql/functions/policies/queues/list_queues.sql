-- list_queues: the queues of a tenant in the order of routing, with how many jobs wait and run in each that
--   takes jobs of the caller; who sees the tenant is told of all.
-- Safe to repeat: yes, it only reads.
-- Plan: queues of the tenant by priority, a page; as _queue_counts, of these; the caller by key.
-- with_counts: NULL counts otherwise, for routing.
-- below: those of a lower priority; limit_rows: at most this number; NULL: all.
-- Returns: documents; `default`, which has no priority, is the last one.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_queues(tenant_id int, with_counts boolean, below int, limit_rows int)
RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_user text;
BEGIN
    SELECT u.name INTO v_user FROM weft.tenant_user u WHERE u.user_id = weft._caller_id();
    RETURN QUERY
    WITH page AS MATERIALIZED (
        SELECT o.*
        FROM (
            (
                SELECT x.*
                FROM weft.queue x
                WHERE x.tenant_id = list_queues.tenant_id AND x.priority < coalesce(below::bigint, 2147483648)
                ORDER BY x.priority DESC
                LIMIT limit_rows
            ) UNION ALL SELECT x.* FROM weft.queue x WHERE x.tenant_id = list_queues.tenant_id
                AND x.priority IS NULL
        ) o
        ORDER BY o.priority DESC NULLS LAST, o.name
        LIMIT limit_rows
    ),
    counts AS MATERIALIZED (
        SELECT CASE
            WHEN with_counts
                THEN (
                    SELECT jsonb_object_agg(c.queue, to_jsonb(c))
                    FROM weft._queue_counts(list_queues.tenant_id, ARRAY(SELECT p.name FROM page p)) c
                )
        END AS by_queue
    )
    SELECT jsonb_build_object(
        'name', q.name, 'priority', q.priority, 'guard', q.guard, 'pools', q.pools, 'executor', q.executor,
        'users', q.users,
        'state', CASE
            WHEN q.state = 'draining' AND with_counts AND coalesce(c.n_waiting + c.n_running, 0) = 0
                THEN 'closed'
            ELSE q.state
        END,
        'max_waiting', q.max_waiting, 'transport', q.transport, 'consumers', q.consumers, 'slots', q.slots,
        'queued_s', q.queued_s, 'monitor', q.monitor,
        'n_waiting', CASE WHEN with_counts AND u.is_theirs THEN coalesce(c.n_waiting, 0) END,
        'n_running', CASE WHEN with_counts AND u.is_theirs THEN coalesce(c.n_running, 0) END
    ) || (
        SELECT jsonb_object_agg(k.queue_field, q.limits -> k.queue_field)
        FROM weft._gate_kinds() k
        WHERE k.limited_by = 'queue'
    )
    FROM page q
    CROSS JOIN counts
    CROSS JOIN LATERAL jsonb_to_record(coalesce(counts.by_queue -> q.name, '{}')) c (
        n_waiting bigint, n_running bigint
    )
    CROSS JOIN LATERAL (SELECT q.users IS NULL OR v_user IS NULL OR v_user = ANY (q.users) AS is_theirs) u
    ORDER BY q.priority DESC NULLS LAST, q.name;
END $$;
