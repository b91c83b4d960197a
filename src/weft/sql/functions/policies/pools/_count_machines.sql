-- _count_machines: count what machines have cost until now; from now on jobs use these shares of them. The
--   rows are the caller's.
-- Safe to repeat: yes.
-- Locks: machine (by the caller); pool_cost; as _fold_machine_sums.
-- Plan: machines by key, a few thousand at most.
-- What was used counts on the date (UTC) of the call.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_machines(machine_ids int[], shares double precision[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_at timestamptz := clock_timestamp();
BEGIN
    INSERT INTO weft.pool_cost AS p (pool_id, spent_on, flavour, machine_us, used_us, cost, used_cost)
    SELECT
        m.pool_id,
        (v_at AT TIME ZONE 'UTC')::date,
        m.flavour,
        sum(t.us),
        sum(t.us * m.used_share),
        sum(c.cost),
        sum(c.cost * m.used_share::numeric)
    FROM weft.machine m
    CROSS JOIN LATERAL (  -- since they were last counted
        SELECT greatest(extract(epoch FROM v_at - coalesce(m.costs_from, m.created_at)) * 1000000, 0)::bigint
            AS us
    ) t
    CROSS JOIN LATERAL (SELECT m.price_per_hour * t.us / 3600000000 AS cost) c
    WHERE m.machine_id = ANY (machine_ids)
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
    ON CONFLICT (pool_id, spent_on, flavour) DO UPDATE
    SET
        machine_us = p.machine_us + excluded.machine_us,
        used_us = p.used_us + excluded.used_us,
        cost = p.cost + excluded.cost,
        used_cost = p.used_cost + excluded.used_cost;
    UPDATE weft.machine m
    SET costs_from = greatest(v_at, m.costs_from, m.created_at), used_share = s.share
    FROM unnest(machine_ids, shares) s (machine_id, share)
    WHERE m.machine_id = s.machine_id;
    PERFORM weft._fold_machine_sums();
END $$;
