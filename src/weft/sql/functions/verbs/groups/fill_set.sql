-- fill_set: one step of filling a set by query: these jobs match, and all up to this number were examined.
--   The last step shows the set.
-- Safe to repeat: yes, jobs that are members already are left.
-- Locks: as _check_epoch; operation; batch (shared); as _add_members; as _show_set; as _end_operation; as
--   _announce.
-- Plan: by key.
-- Returns: whether the step is done; if not, some rows were locked: repeat the step.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.fill_set(
    epoch bigint,
    of_operation_id bigint,
    job_ids int[],
    looked_upto bigint,
    sets_max int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_operation weft.operation;
    v_set int;
    v_added record;
    v_result jsonb;
    v_is_done boolean;
BEGIN
    SELECT o.*
    INTO v_operation
    FROM weft.operation o
    WHERE o.operation_id = of_operation_id AND o.state = 'running'
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN true;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(v_operation.batch_id);
    v_set := (v_operation.arguments ->> 'group_id')::int;
    SELECT *
    INTO v_added
    FROM weft._add_members(
        v_operation.tenant_id, v_operation.batch_id, v_set, job_ids, sets_max, fill_set.at
    );
    v_is_done := cardinality(v_added.busy) = 0;
    v_result := jsonb_build_object(
        'group_id', v_set,
        'n_members', coalesce((v_operation.result ->> 'n_members')::bigint, 0) + v_added.n_added
    );
    UPDATE weft.operation o
    SET
        result = v_result,
        position = CASE WHEN v_is_done THEN looked_upto ELSE o.position END,
        n_done = CASE WHEN v_is_done THEN least(looked_upto, o.n_total) ELSE o.n_done END
    WHERE o.operation_id = of_operation_id;
    IF v_is_done AND looked_upto >= v_operation.n_total THEN
        PERFORM weft._show_set(v_operation.tenant_id, v_operation.batch_id, v_set, fill_set.at);
        PERFORM weft._end_operation(of_operation_id, NULL, v_result, fill_set.at);
    END IF;
    PERFORM weft._announce();
    RETURN v_is_done;
END $$;
