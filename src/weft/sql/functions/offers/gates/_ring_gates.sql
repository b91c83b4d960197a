-- _ring_gates: leave the gates of these sets to the driver because they are locked, or the caller must not
--   lock them yet.
-- Safe to repeat: yes.
-- Locks: none.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._ring_gates(of_gate_ids int[]) RETURNS void
LANGUAGE sql SECURITY DEFINER AS $$
    INSERT INTO weft.gate_note (gate_id, n_freed) SELECT DISTINCT x, 0 FROM unnest(of_gate_ids) x;
    SELECT pg_notify('driver', 'gates');
$$;
