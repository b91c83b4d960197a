-- _price_machines: what machines of a pool cost from now on is what its description says of their flavours.
-- Safe to repeat: yes.
-- Locks: machine; as _count_machines.
-- Plan: machines of the pool that are not deleted.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._price_machines(of_pool_id int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_ids int[];
    v_shares double precision[];
    v_prices numeric[];
BEGIN
    SELECT array_agg(x.machine_id), array_agg(x.used_share), array_agg(x.price)
    INTO v_ids, v_shares, v_prices
    FROM (
        SELECT m.machine_id, m.used_share, f.price_per_hour AS price
        FROM weft.machine m
        JOIN weft.pool p
        USING (pool_id)
        CROSS JOIN LATERAL jsonb_to_recordset(p.plan -> 'flavours') f (name text, price_per_hour numeric)
        WHERE m.pool_id = of_pool_id
            AND m.state <> 'deleted'
            AND f.name = m.flavour
            AND f.price_per_hour <> m.price_per_hour
        ORDER BY m.machine_id
        FOR NO KEY UPDATE OF m
    ) x;
    IF v_ids IS NOT NULL THEN
        PERFORM weft._count_machines(v_ids, v_shares);
        UPDATE weft.machine m
        SET price_per_hour = s.price
        FROM unnest(v_ids, v_prices) s (machine_id, price)
        WHERE m.machine_id = s.machine_id;
    END IF;
END $$;
