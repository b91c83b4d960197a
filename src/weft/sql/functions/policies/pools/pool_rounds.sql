-- pool_rounds: what the driver has to know to decide about pools of providers with a pool that has machines
--   or may have. First, machines that go are no longer their jobs', those whose worker came are active, and
--   those whose drain was taken back are so again.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; as _release_machines; machine (SKIP LOCKED).
-- Plan: the few pools; as _pool_machines, _pool_demand and _machine_jobs.
-- Returns: documents: `pool_id`, `plan`, `tag` (the id of the database), `machines`, `demand`, `own_jobs` (as
--   _machine_jobs).
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.pool_rounds(epoch bigint, limit_jobs int) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._release_machines();
    UPDATE weft.machine m
    SET
        state = 'active',
        changed_at = clock_timestamp(),
        reason = 'its worker takes jobs',
        came_at = CASE
            WHEN m.state = 'creating' THEN greatest(n.registered_at, m.created_at)
            ELSE m.came_at
        END
    FROM (
        SELECT x.machine_id, i.registered_at
        FROM weft.machine x
        JOIN weft.worker w ON w.pool_id = x.pool_id AND w.name = x.name AND w.cordoned_at IS NULL
        JOIN weft.worker_incarnation i ON i.worker_id = w.worker_id AND i.ended_at IS NULL
        WHERE x.state IN ('creating', 'cordoned', 'deleting')
        FOR NO KEY UPDATE OF x SKIP LOCKED
    ) n
    WHERE m.machine_id = n.machine_id;
    RETURN QUERY
    SELECT jsonb_build_object(
        'pool_id', p.pool_id,
        'plan', p.plan,
        'tag', (SELECT r.database_id FROM weft.schema_range r),
        'machines', (SELECT coalesce(jsonb_agg(m), '[]') FROM weft._pool_machines(p.pool_id) m),
        'demand', (
            SELECT coalesce(jsonb_agg(to_jsonb(d)), '[]') FROM weft._pool_demand(p.pool_id, limit_jobs) d
        ),
        'own_jobs', (
            SELECT coalesce(jsonb_agg(to_jsonb(o)), '[]')
            FROM weft._machine_jobs(p.pool_id, (p.plan ->> 'creates_per_round')::int) o
        )
    )
    FROM weft.pool p
    WHERE p.plan ->> 'provider' IN (
        SELECT o.plan ->> 'provider'
        FROM weft.pool o
        WHERE (o.plan ->> 'max_workers')::int > 0
            OR (SELECT true FROM weft.machine m WHERE m.pool_id = o.pool_id AND m.state <> 'deleted' LIMIT 1)
    )
    ORDER BY p.name;
END $$;
