-- _flavours: what workers of a pool that a provider may make offer, for all jobs and, with `machine`, for
--   one; no rows: it makes none.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._flavours(of_pool weft.pool)
RETURNS TABLE (flavour text, cpu_m bigint, memory_mib bigint, offers jsonb) LANGUAGE sql STABLE AS $$
    SELECT
        f.name,
        f.cpu_m,
        f.memory_mib,
        jsonb_build_object(
            'storage_mib', f.storage_mib,
            'gpu', coalesce(f.gpus, 0),
            'pool', (of_pool).name,
            'executor', EXECUTORS_OF_MACHINES::jsonb
                || CASE WHEN f.containers THEN '["container"]'::jsonb ELSE '[]' END
        ) || coalesce(f.countables, '{}') || (
            SELECT coalesce(jsonb_object_agg(l.key, jsonb_build_array(l.value)), '{}')
            FROM jsonb_each(f.labels) l
        ) || CASE
            WHEN (of_pool).plan -> 'regions' <> '[]'
                THEN jsonb_build_object('region', (of_pool).plan -> 'regions')
            ELSE '{}'
        END || CASE WHEN f.preemptible THEN '{"preemptible": ["yes"]}'::jsonb ELSE '{}' END || CASE
            WHEN f.walltime_s > 0
                THEN jsonb_build_object('timeout_s', greatest(f.walltime_s - WALLTIME_MARGIN_S, 0))
            ELSE '{}'
        END || CASE WHEN o.is_own THEN jsonb_build_object('machine', jsonb_build_array(f.name)) ELSE '{}' END
    FROM jsonb_to_recordset((of_pool).plan -> 'flavours') f (
        name text, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpus int, countables jsonb,
        labels jsonb, containers boolean, preemptible boolean, walltime_s int
    )
    CROSS JOIN (VALUES (false), (true)) o (is_own)
    WHERE ((of_pool).plan ->> 'max_workers')::int > 0
$$;
