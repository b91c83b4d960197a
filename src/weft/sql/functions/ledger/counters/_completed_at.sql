-- _completed_at: when a group completed: when its last job ended, but not before the group existed (a set may
--   be made of ended jobs).
-- Safe to repeat: yes.
-- `recorded`: the last end that is known from before deltas carried ends.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._completed_at(
    created_at timestamptz, last_ended_at timestamptz, recorded timestamptz
) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN last_ended_at IS NULL THEN recorded ELSE greatest(created_at, last_ended_at) END
$$;
