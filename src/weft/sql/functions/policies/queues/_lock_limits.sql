-- _lock_limits: those of the queues of these jobs that limit how many run. Until the commit their limits
--   stay; if jobs are counted (`counts`), queues that limit how many wait count no others either.
-- Safe to repeat: yes.
-- Locks: queue (that of `default`, shared: save_queues waits for it); queue (after the same for all: those
--   with max_waiting, in the order of their ids).
-- Plan: queues of the tenant by name; nothing is locked if none has a limit.
-- asked: what the jobs ask for beside cpu and memory, with `queue`; without it they are in `default`.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._lock_limits(of_tenant_id int, asked jsonb[], counts boolean) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
    v_names text[] := ARRAY(SELECT DISTINCT coalesce(a ->> 'queue', 'default') FROM unnest(asked) a);
BEGIN
    IF NOT EXISTS (
        SELECT
        FROM weft.queue q
        WHERE q.tenant_id = of_tenant_id
            AND q.name = ANY (v_names)
            AND (q.limits <> '{}' OR q.max_waiting IS NOT NULL)
    ) THEN
        RETURN '{}';
    END IF;
    PERFORM FROM weft.queue q WHERE q.tenant_id = of_tenant_id AND q.name = 'default' FOR KEY SHARE;
    IF counts THEN
        PERFORM
        FROM weft.queue q
        WHERE q.tenant_id = of_tenant_id AND q.name = ANY (v_names) AND q.max_waiting IS NOT NULL
        ORDER BY q.queue_id
        FOR NO KEY UPDATE;
    END IF;
    -- In a statement of its own, which sees limits that have just been saved.
    RETURN ARRAY(
        SELECT q.name
        FROM weft.queue q
        WHERE q.tenant_id = of_tenant_id AND q.name = ANY (v_names) AND q.limits <> '{}'
        ORDER BY q.name
    );
END $$;
