-- _note_foreign_states: note the states of the jobs of doors among those of these batches, and when they
--   changed.
-- Safe to repeat: yes.
-- Locks: foreign_state.
-- Plan: by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._note_foreign_states(batch_ids bigint[]) RETURNS void
LANGUAGE sql PLAN_BY_KEY AS $$
    INSERT INTO weft.foreign_state (batch_id, tenant_id, user_id, door, state, changed_at)
    SELECT b.batch_id, b.tenant_id, b.user_id, b.door, j.state, weft._changed_at(b.batch_id, 1)
    FROM (SELECT DISTINCT x.id FROM unnest(batch_ids) x (id)) t
    JOIN weft.batch b ON b.batch_id = t.id AND NOT b.removing
    JOIN weft.job j ON j.batch_id = b.batch_id AND j.job_id = 1
    WHERE b.foreign_id IS NOT NULL AND b.door IS NOT NULL
    ON CONFLICT (batch_id) DO UPDATE
    SET state = excluded.state, changed_at = excluded.changed_at
$$;
