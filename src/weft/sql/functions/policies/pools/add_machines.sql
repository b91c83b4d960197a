-- add_machines: note machines that are about to be made, never more than the pool may have now.
-- Safe to repeat: no; what a lost reply noted is found at the next round and made then.
-- Locks: as _check_epoch; pool; as _note_machines.
-- Plan: as _note_machines.
-- Returns: their names, in order; fewer if the pool may have fewer.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.add_machines(
    epoch bigint, of_pool_id int, flavours text[], regions text[], reasons text[]
) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM weft.pool p WHERE p.pool_id = of_pool_id FOR NO KEY UPDATE;
    RETURN QUERY SELECT unnest(weft._note_machines(of_pool_id, flavours, regions, reasons, '{}', '{}'));
END $$;
