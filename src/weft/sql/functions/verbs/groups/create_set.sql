-- create_set: add an empty set group to a batch.
-- Safe to repeat: yes with the same name and definition; it returns the existing set.
-- Locks: batch_row (shortly).
-- Plan: by key.
-- Returns: its number and whether it is new.  Raises WF101 (batch), WF204 (batch cancelled), WF209 (name
--   taken), WF212 (too many groups).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.create_set(
    tenant_id int,
    batch_id bigint,
    name text,
    attributes jsonb,
    cancel_after int,
    callback text,
    is_hidden boolean,
    groups_max int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (group_id int, is_new boolean) LANGUAGE plpgsql AS $$
DECLARE
    v_old weft.job_group;
    v_id int;
    v_name text := create_set.name;
BEGIN
    PERFORM weft._check_batch(create_set.batch_id);
    UPDATE weft.batch b
    SET next_group = b.next_group + 1
    WHERE b.batch_id = create_set.batch_id
    RETURNING b.next_group - 1
    INTO v_id;
    PERFORM weft._check_open(create_set.batch_id, 0);
    PERFORM weft._check_room(create_set.batch_id, v_id, create_set.groups_max);
    IF v_name IS NULL THEN
        v_name := 'set' || v_id;
    END IF;
    SELECT g.*
    INTO v_old
    FROM weft.job_group g
    WHERE g.batch_id = create_set.batch_id AND g.is_set AND g.name = v_name;
    IF FOUND THEN
        IF create_set.is_hidden
            OR v_old.hidden
            OR v_old.attributes <> create_set.attributes
            OR v_old.callback IS DISTINCT FROM create_set.callback
            OR v_old.cancel_after_n_failures IS DISTINCT FROM create_set.cancel_after
            OR EXISTS (
                SELECT
                FROM weft.batch_update u
                WHERE u.batch_id = v_old.batch_id AND u.update_id = v_old.update_id AND u.committed_at IS NULL
            )
        THEN
            PERFORM weft._fail(
                'WF209',
                format('set %s of batch b%s already exists', v_name, create_set.batch_id),
                'Names of sets are unique within a batch, and that set has another definition.',
                'Choose another name, or use the existing set.'
            );
        END IF;
        RETURN QUERY SELECT v_old.group_id, false;
        RETURN;
    END IF;
    PERFORM weft._add_set(
        create_set.tenant_id, create_set.batch_id, v_id, NULL, v_name, create_set.attributes,
        create_set.cancel_after, create_set.callback, create_set.is_hidden, create_set.at
    );
    RETURN QUERY SELECT v_id, true;
END $$;
