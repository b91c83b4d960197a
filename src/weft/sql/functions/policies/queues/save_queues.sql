-- save_queues: make the queues of a tenant these, and no others but `default`. Pools that are new are added.
-- Safe to repeat: yes.
-- For: Store.save_queues (api), which has checked them.
-- Locks: queue (that of `default` first, so that one call follows the other); as _check_pools.
-- Plan: queues of the tenant, which are few.
-- queues: documents as list_queues has them.
-- Raises WF112 (a queue with waiting jobs would go, or travel otherwise), WF126.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.save_queues(tenant_id int, queues jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_full record;
BEGIN
    PERFORM FROM weft.queue q WHERE q.tenant_id = save_queues.tenant_id AND q.name = 'default' FOR UPDATE;
    SELECT c.queue, c.n_waiting
    INTO v_full
    FROM weft._queue_counts(save_queues.tenant_id, NULL) c
    JOIN weft.queue q ON q.tenant_id = save_queues.tenant_id AND q.name = c.queue
    WHERE c.n_waiting > 0
        AND c.queue <> 'default'
        AND NOT queues @> jsonb_build_array(jsonb_build_object('name', c.queue))
    LIMIT 1;
    IF FOUND THEN
        PERFORM weft._fail(
            'WF112',
            format('queue "%s" has waiting jobs', v_full.queue),
            format('%s of its jobs wait.', to_char(v_full.n_waiting, 'FM999,999,999,999')),
            format(
                'Move them with `weft queue drain %s --move-to default`, wait until they have run, or cancel them.',
                v_full.queue
            )
        );
    END IF;
    -- The lanes of its jobs name its transport, and whether foreign programs run them.
    SELECT c.queue, c.n_waiting
    INTO v_full
    FROM weft._queue_counts(save_queues.tenant_id, NULL) c
    JOIN weft.queue q ON q.tenant_id = save_queues.tenant_id AND q.name = c.queue
    WHERE c.n_waiting > 0
        AND EXISTS (
            SELECT
            FROM jsonb_array_elements(queues) e
            WHERE e ->> 'name' = q.name
                AND (coalesce(e ->> 'transport', 'postgres'), coalesce(e ->> 'consumers', 'weft')) <> (
                    q.transport, q.consumers
                )
        )
    LIMIT 1;
    IF FOUND THEN
        PERFORM weft._fail(
            'WF112',
            format('queue "%s" has waiting jobs', v_full.queue),
            format(
                '%s of its jobs wait, and travel as they did when they were submitted.',
                to_char(v_full.n_waiting, 'FM999,999,999,999')
            ),
            'Change its `transport` and `consumers` when they have run, or make another queue.'
        );
    END IF;
    DELETE FROM weft.queue q
    WHERE q.tenant_id = save_queues.tenant_id
        AND q.name <> 'default'
        AND NOT queues @> jsonb_build_array(jsonb_build_object('name', q.name));
    -- so that two can swap theirs
    UPDATE weft.queue q SET priority = NULL WHERE q.tenant_id = save_queues.tenant_id;
    INSERT INTO weft.pool (name)
    SELECT DISTINCT p
    FROM jsonb_array_elements(queues) e
    CROSS JOIN LATERAL jsonb_array_elements_text(e -> 'pools') p
    ORDER BY 1
    ON CONFLICT DO NOTHING;
    INSERT INTO weft.queue AS q (
        tenant_id, pool_id, name, priority, guard, pools, executor, users, state, limits, max_waiting,
        transport, consumers, slots, queued_s, monitor
    )
    SELECT
        save_queues.tenant_id, p.pool_id, r.name, r.priority, r.guard, r.pools, r.executor, r.users, r.state,
        l.limits, r.max_waiting, r.transport, coalesce(r.consumers, 'weft'), r.slots, r.queued_s, r.monitor
    FROM jsonb_array_elements(queues) e
    CROSS JOIN LATERAL jsonb_to_record(e) r (
        name text, priority int, guard text, pools text[], executor text, users text[], state text,
        max_waiting int, transport text, consumers text, slots int, queued_s int, monitor jsonb
    )
    CROSS JOIN LATERAL (
        SELECT jsonb_strip_nulls(jsonb_object_agg(k.queue_field, e -> k.queue_field)) AS limits
        FROM weft._gate_kinds() k
        WHERE k.limited_by = 'queue'
    ) l
    JOIN weft.pool p ON p.name = r.pools[1]
    ON CONFLICT (tenant_id, name) DO UPDATE
    SET
        pool_id = CASE WHEN q.name = 'default' THEN q.pool_id ELSE excluded.pool_id END,
        priority = excluded.priority, guard = excluded.guard, pools = excluded.pools,
        executor = excluded.executor, users = excluded.users, state = excluded.state,
        limits = excluded.limits,
        max_waiting = excluded.max_waiting,
        transport = excluded.transport, consumers = excluded.consumers, slots = excluded.slots,
        queued_s = excluded.queued_s, monitor = excluded.monitor;
    PERFORM weft._check_pools(
        save_queues.tenant_id,
        ARRAY(
            SELECT p
            FROM jsonb_array_elements(queues) e
            CROSS JOIN LATERAL jsonb_array_elements_text(e -> 'pools') p
        )
    );
    PERFORM weft._limit_queues(save_queues.tenant_id);
    PERFORM pg_notify('queues', save_queues.tenant_id::text);  -- every api remembers them
END $$;
