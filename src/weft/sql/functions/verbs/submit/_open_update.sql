-- _open_update: lock and return an update that is being filled; shared, so bunches can be added in parallel
--   but not after the commit.
-- Safe to repeat: yes.
-- Locks: update (shared).
-- Raises WF101, WF104, WF203 (committed).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._open_update(of_batch_id bigint, of_update_id int) RETURNS weft.batch_update
LANGUAGE plpgsql AS $$
DECLARE
    v_update weft.batch_update;
BEGIN
    SELECT u.*
    INTO v_update
    FROM weft.batch_update u
    WHERE u.batch_id = of_batch_id AND u.update_id = of_update_id
    FOR KEY SHARE;
    IF NOT FOUND THEN
        PERFORM weft._check_batch(of_batch_id);
        PERFORM weft._fail(
            'WF104',
            format('update %s of batch b%s does not exist', of_update_id, of_batch_id),
            'The batch has no update of this number.',
            'Create an update of the batch first.'
        );
    END IF;
    PERFORM weft._check_batch(of_batch_id);
    RETURN v_update;
END $$;
