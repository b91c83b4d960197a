-- move_machine: cordon a machine, take that back, or let its worker end: its process does when nothing runs
--   there. A claim that is under way is waited for, so a job that was taken meanwhile goes on.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; machine; pool_log; as _cordon; as uncordon_worker.
-- decision: cordon, uncordon or delete.
-- Returns: whether it was done; false: it has another state by now, or a person cordoned it.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.move_machine(epoch bigint, machine text, decision text, reason text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_machine record;
    v_lives boolean;
    v_by text;
    v_broken boolean;
BEGIN
    SELECT m.machine_id, m.pool_id, m.state, p.name AS pool
    INTO v_machine
    FROM weft.machine m
    JOIN weft.pool p
    USING (pool_id)
    WHERE m.name = move_machine.machine
    FOR NO KEY UPDATE OF m;
    SELECT
        w.cordoned_by,
        EXISTS (SELECT FROM weft.worker_incarnation i WHERE i.worker_id = w.worker_id AND i.ended_at IS NULL),
        EXISTS (SELECT FROM weft.black_hole b WHERE b.worker_id = w.worker_id)
    INTO v_by, v_lives, v_broken
    FROM weft.worker w
    WHERE w.pool_id = v_machine.pool_id AND w.name = move_machine.machine;
    IF v_machine.state IS NULL
        OR v_machine.state IN ('deleting', 'deleted')
        OR v_by <> 'autoscaler' AND NOT (v_broken AND decision = 'delete')
        OR (decision = 'cordon') <> (v_machine.state = 'active') AND decision <> 'delete'
    THEN
        RETURN false;
    END IF;
    UPDATE weft.machine m
    SET
        changed_at = clock_timestamp(),
        reason = left(move_machine.reason, 1000),
        state = CASE decision WHEN 'cordon' THEN 'cordoned' WHEN 'uncordon' THEN 'active' ELSE 'deleting' END
    WHERE m.machine_id = v_machine.machine_id;
    PERFORM weft._record_pool_changes(
        v_machine.pool_id, ARRAY[decision], ARRAY[move_machine.machine], ARRAY[move_machine.reason]
    );
    IF v_lives AND decision = 'uncordon' THEN
        PERFORM weft.uncordon_worker(move_machine.machine, v_machine.pool, 'autoscaler');
    ELSIF v_lives THEN
        PERFORM weft._cordon(
            move_machine.machine,
            v_machine.pool,
            'autoscaler',
            left(move_machine.reason, 1000),
            decision = 'delete'
        );
    END IF;
    RETURN true;
END $$;
