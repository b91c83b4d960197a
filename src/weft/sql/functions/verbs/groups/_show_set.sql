-- _show_set: make a set filled by a query visible to readers.
-- Safe to repeat: yes.
-- Locks: sums (the row of the set); group (nobody else changes a hidden set); as _settle_groups. Every fold
--   that counts its jobs takes the row of sums, so either that fold sees the set shown, or its counts are
--   seen here.
-- Plan: by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._show_set(tenant_id int, of_batch_id bigint, set_id int, at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO weft.group_count AS c (batch_id, group_id, tenant_id)
    VALUES (of_batch_id, set_id, _show_set.tenant_id)
    ON CONFLICT (batch_id, group_id) DO UPDATE
    SET complete = c.complete;
    UPDATE weft.job_group g SET hidden = false WHERE g.batch_id = of_batch_id AND g.group_id = set_id;
    -- Members that are not folded yet: the fold that counts them decides.
    IF NOT EXISTS (
        SELECT
        FROM weft._unfolded() d
        JOIN weft.group_ancestor a ON a.batch_id = d.batch_id AND a.group_id = d.group_id
        WHERE a.batch_id = of_batch_id AND a.ancestor_id = set_id
    ) THEN
        PERFORM weft._settle_groups(ARRAY[of_batch_id], ARRAY[set_id], ARRAY[false], _show_set.at);
    END IF;
END $$;
