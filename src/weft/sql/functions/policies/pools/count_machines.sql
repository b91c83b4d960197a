-- count_machines: count what machines have cost until now; from now on jobs use these shares of them.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; machine; as _count_machines.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.count_machines(epoch bigint, machines text[], shares double precision[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._count_machines(array_agg(x.machine_id), array_agg(x.share))
    FROM (
        SELECT m.machine_id, s.share
        FROM weft.machine m
        JOIN unnest(count_machines.machines, shares) s (name, share) ON s.name = m.name
        WHERE m.state <> 'deleted'
        ORDER BY m.machine_id
        FOR NO KEY UPDATE OF m
    ) x;
END $$;
