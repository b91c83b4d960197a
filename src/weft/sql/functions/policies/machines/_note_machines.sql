-- _note_machines: note machines that are about to be made, for one job each or, without numbers, for all;
--   never more than the pool may have now.
-- Safe to repeat: no.
-- Locks: pool (by the caller); machine (new rows); pool_log.
-- Plan: machines of the pool by the partial index.
-- Returns: their names, in order; fewer if the pool may have fewer.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._note_machines(
    of_pool_id int, flavours text[], regions text[], reasons text[], batch_ids bigint[], job_ids int[]
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    v_pool record;
    v_names text[];
BEGIN
    SELECT p.name, p.plan, (p.plan ->> 'max_workers')::int AS most
    INTO v_pool
    FROM weft.pool p
    WHERE p.pool_id = of_pool_id;
    WITH new AS (
        INSERT INTO weft.machine AS m (
            machine_id, pool_id, name, provider, flavour, region, cpu_m, price_per_hour, pool_max, state,
            reason, created_at, changed_at, template, for_batch_id, for_job_id
        ) OVERRIDING SYSTEM VALUE
        SELECT
            w.machine_id,
            of_pool_id,
            v_pool.name || '-' || w.machine_id,
            v_pool.plan ->> 'provider', w.flavour, w.region, f.cpu_m, f.price_per_hour, v_pool.most,
            'creating', left(w.reason, 1000), d.at, d.at,
            weft._template(v_pool.plan, w.flavour),
            w.batch_id,
            w.job_id
        FROM (
            SELECT
                x.flavour,
                x.region,
                x.reason,
                x.batch_id,
                x.job_id,
                nextval('weft.machine_machine_id_seq') AS machine_id
            FROM unnest(
                _note_machines.flavours,
                _note_machines.regions,
                _note_machines.reasons,
                _note_machines.batch_ids,
                _note_machines.job_ids
            ) WITH ORDINALITY x (flavour, region, reason, batch_id, job_id, n)
            WHERE x.n <= v_pool.most
                - (SELECT count(*) FROM weft.machine o WHERE o.pool_id = of_pool_id AND o.state <> 'deleted')
            ORDER BY x.n
        ) w
        JOIN jsonb_to_recordset(v_pool.plan -> 'flavours') f (name text, cpu_m bigint, price_per_hour numeric)
            ON f.name = w.flavour
        CROSS JOIN (SELECT clock_timestamp() AS at) d
        RETURNING m.name, m.reason, m.machine_id
    )
    SELECT array_agg(n.name ORDER BY n.machine_id)
    INTO v_names
    FROM new n;
    PERFORM weft._record_pool_changes(
        of_pool_id, array_agg('create'::text), array_agg(m.name), array_agg(m.reason)
    )
    FROM (SELECT x.name, x.reason FROM weft.machine x WHERE x.name = ANY (v_names) ORDER BY x.machine_id) m;
    RETURN v_names;
END $$;
