-- _offers: what an incarnation offers beside cpu and memory. One that said nothing has storage, gpus and both
--   executors.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._offers(i weft.worker_incarnation) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'storage_mib', i.storage_mib,
        'gpu', i.gpu,
        'pool', (SELECT p.name FROM weft.pool p WHERE p.pool_id = i.pool_id)
    ) || coalesce(i.offers, '{"executor": ["process", "function"]}')
$$;
