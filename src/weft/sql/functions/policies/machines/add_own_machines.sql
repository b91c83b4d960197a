-- add_own_machines: note machines that are about to be made for one job each, never more than the pool may
--   have now. The jobs wait for them from now on; one that is not ready any more gets none.
-- Safe to repeat: yes: a job waits for one machine. What a lost reply noted is made at the next round.
-- Locks: as _check_epoch; pool; as _note_machines; machine (by the caller); as _begin_creating; as _announce.
-- Plan: machines of the pool by the partial index; jobs by key.
-- Returns: documents of the machines, in the order of their jobs.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.add_own_machines(
    epoch bigint,
    of_pool_id int,
    flavours text[],
    regions text[],
    reasons text[],
    batch_ids bigint[],
    job_ids int[]
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_names text[];
    v_one record;
BEGIN
    PERFORM FROM weft.pool p WHERE p.pool_id = of_pool_id FOR NO KEY UPDATE;
    SELECT weft._note_machines(
        of_pool_id,
        array_agg(x.flavour ORDER BY x.n),
        array_agg(x.region ORDER BY x.n),
        array_agg(x.reason ORDER BY x.n),
        array_agg(x.batch_id ORDER BY x.n),
        array_agg(x.job_id ORDER BY x.n)
    )
    INTO v_names
    FROM unnest(flavours, regions, reasons, batch_ids, job_ids)
        WITH ORDINALITY x (flavour, region, reason, batch_id, job_id, n)
    WHERE NOT EXISTS (
        SELECT
        FROM weft.machine m
        WHERE m.for_batch_id = x.batch_id AND m.for_job_id = x.job_id AND m.released_at IS NULL
    );
    FOR v_one IN
        SELECT m.machine_id, m.for_batch_id AS batch_id, m.for_job_id AS job_id, f.cpu_m, f.memory_mib
        FROM weft.machine m
        JOIN weft.pool p
        USING (pool_id)
        JOIN jsonb_to_recordset(p.plan -> 'flavours') f (name text, cpu_m bigint, memory_mib bigint)
            ON f.name = m.flavour
        WHERE m.name = ANY (v_names)
        ORDER BY m.machine_id
    LOOP
        IF NOT weft._begin_creating(
            v_one.batch_id, v_one.job_id, of_pool_id, v_one.cpu_m, v_one.memory_mib
        ) THEN
            -- Nobody has asked for it yet.
            UPDATE weft.machine m
            SET state = 'deleted', released_at = m.created_at, reason = 'its job was no longer ready'
            WHERE m.machine_id = v_one.machine_id;
        END IF;
    END LOOP;
    PERFORM weft._announce();
    RETURN QUERY
    SELECT jsonb_build_object(
        'name', m.name, 'flavour', m.flavour, 'region', m.region, 'provider', m.provider, 'reason', m.reason
    )
    FROM weft.machine m
    WHERE m.name = ANY (v_names) AND m.state <> 'deleted'
    ORDER BY m.machine_id;
END $$;
