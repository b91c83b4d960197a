-- _growth: whether a pool makes machines that can hold such jobs, and when the next one comes.
-- Plan: machines of the pool that are not deleted, by the partial index; the last 20 of a flavour that came;
--   the newest 50 changes.
-- Returns: NULL: none of its flavours holds such a job. `machines`: how many there are of `max_workers`;
--   `has_room`: whether the rules let one more be made; `coming`: the machine that was asked for first and
--   has no worker yet, with `since`, `waits` (why its provider has not begun it) and `usual_s`, the median
--   time that the last ones of its flavour took (NULL: none has come yet); `problem`: why the provider made
--   none when it was asked last.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._growth(
    of_pool_id int, of_lane_id int, needs_cpu_m bigint, needs_memory_mib bigint
) RETURNS jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH fitting AS MATERIALIZED (
        SELECT f.flavour, f.cpu_m, p.plan
        FROM weft.pool p
        CROSS JOIN LATERAL weft._flavours(p) f
        WHERE p.pool_id = of_pool_id
            AND f.cpu_m >= needs_cpu_m
            AND f.memory_mib >= needs_memory_mib
            AND EXISTS (
                SELECT
                FROM (
                    SELECT z.value AS region
                    FROM jsonb_array_elements(p.plan -> 'regions') z
                    UNION ALL
                    SELECT NULL
                    WHERE p.plan -> 'regions' = '[]'
                ) g
                WHERE weft._serves(
                    f.offers || CASE
                        WHEN g.region IS NULL THEN '{}'
                        ELSE jsonb_build_object('region', jsonb_build_array(g.region))
                    END,
                    coalesce((SELECT l.asks FROM weft.lane l WHERE l.lane_id = of_lane_id), '{}')
                )
            )
    ),
    plan AS (
        SELECT
            (x.plan ->> 'max_workers')::int AS most,
            min(x.cpu_m) AS cpu_m,
            (x.plan ->> 'quota_cpu_m')::bigint * (x.plan ->> 'quota_share')::double precision AS quota_m
        FROM fitting x
        GROUP BY x.plan
    ),
    there AS MATERIALIZED (
        SELECT m.* FROM weft.machine m WHERE m.pool_id = of_pool_id AND m.state <> 'deleted'
    ),
    coming AS (
        SELECT m.name, m.flavour, m.created_at, m.waits
        FROM there m
        WHERE m.state = 'creating'
            AND m.for_batch_id IS NULL
            AND m.flavour IN (SELECT f.flavour FROM fitting f)
            AND NOT EXISTS (
                SELECT
                FROM weft.worker w
                JOIN weft.worker_incarnation i
                USING (worker_id)
                WHERE w.pool_id = of_pool_id AND w.name = m.name AND i.ended_at IS NULL
            )
        ORDER BY m.machine_id
        LIMIT 1
    )
    SELECT jsonb_build_object(
        'max_workers', p.most,
        'machines', n.machines,
        'has_room', n.machines < p.most AND (p.quota_m IS NULL OR n.cpu_m + p.cpu_m <= p.quota_m),
        'coming', (
            SELECT jsonb_build_object(
                'machine', c.name,
                'since', c.created_at,
                'waits', c.waits,
                'usual_s', (
                    SELECT percentile_cont(0.5) WITHIN
                    GROUP (ORDER BY date_part('epoch', h.came_at - h.created_at))
                    FROM (
                        SELECT m.came_at, m.created_at
                        FROM weft.machine m
                        WHERE m.pool_id = of_pool_id AND m.flavour = c.flavour AND m.came_at IS NOT NULL
                        ORDER BY m.machine_id DESC
                        LIMIT 20
                    ) h
                )
            )
            FROM coming c
        ),
        'problem', (
            SELECT CASE WHEN l.kind = 'fail' THEN l.reason END
            FROM (
                SELECT c.*
                FROM weft.pool_change c
                WHERE c.pool_id = of_pool_id
                ORDER BY c.change_id DESC
                LIMIT 50
            ) l
            WHERE l.kind IN ('create', 'fail')
            ORDER BY l.change_id DESC
            LIMIT 1
        )
    )
    FROM plan p
    CROSS JOIN (SELECT count(*) AS machines, coalesce(sum(t.cpu_m), 0) AS cpu_m FROM there t) n
$$;
