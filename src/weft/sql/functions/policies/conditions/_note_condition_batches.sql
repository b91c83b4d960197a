-- _note_condition_batches: note of each condition the batches whose jobs wait there. Functions of the previous release did not while the
--   schema changed. For one release.
-- Called by: begin_term, migrate.   Safe to repeat: yes.
-- Locks: condition (in the order of their ids, shared: none is forgotten meanwhile).   Plan: jobs of each condition by index.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._note_condition_batches() RETURNS void LANGUAGE sql
AS $$
    INSERT INTO weft.condition_batch (batch_id, condition_id, tenant_id, owner_id, project_id)
    SELECT b.batch_id, c.condition_id, b.tenant_id, b.user_id, b.project_id
    FROM (SELECT x.condition_id FROM weft.condition x ORDER BY x.condition_id FOR KEY SHARE) c
    CROSS JOIN LATERAL (SELECT DISTINCT y.batch_id FROM weft.blocked_job y WHERE y.condition_id = c.condition_id) k
    JOIN weft.batch b ON b.batch_id = k.batch_id
    ON CONFLICT DO NOTHING
$$;
