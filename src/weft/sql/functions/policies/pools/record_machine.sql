-- record_machine: note what a provider said about a machine. With a machine that is gone goes its worker,
--   also if it was lost, and what its worker reached the api with.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; as _end_tokens; machine; as _count_machines; pool_log; worker.
-- kind: made, gone or fail.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.record_machine(
    epoch bigint, machine text, kind text, provider_id text, reason text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_machine record;
BEGIN
    IF kind = 'gone' THEN
        PERFORM weft._end_tokens(x.user_id, x.ids)
        FROM (
            SELECT t.user_id, array_agg(t.token_id) AS ids
            FROM weft.token t
            WHERE t.name = record_machine.machine AND t.kind = 'machine'
            GROUP BY t.user_id
        ) x;
    END IF;
    SELECT m.machine_id, m.pool_id, m.state
    INTO v_machine
    FROM weft.machine m
    WHERE m.name = record_machine.machine AND m.state <> 'deleted'
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF kind = 'gone' THEN
        PERFORM weft._count_machines(ARRAY[v_machine.machine_id], ARRAY[0.0]);
    END IF;
    UPDATE weft.machine m
    SET
        provider_id = coalesce(left(record_machine.provider_id, 1000), m.provider_id),
        reason = coalesce(left(record_machine.reason, 1000), m.reason),
        state = CASE WHEN kind = 'gone' THEN 'deleted' ELSE m.state END,
        changed_at = CASE WHEN kind = 'gone' THEN clock_timestamp() ELSE m.changed_at END
    WHERE m.machine_id = v_machine.machine_id;
    IF kind = 'gone' THEN
        PERFORM weft._delete_worker(x.worker_id, clock_timestamp())
        FROM (
            SELECT w.worker_id
            FROM weft.worker w
            WHERE w.pool_id = v_machine.pool_id
                AND w.name = record_machine.machine
                AND w.deleted_at IS NULL
                AND NOT EXISTS (
                    SELECT
                    FROM weft.worker_incarnation i
                    WHERE i.worker_id = w.worker_id AND i.ended_at IS NULL
                )
            FOR NO KEY UPDATE OF w
        ) x;
    END IF;
    IF kind <> 'made' THEN
        PERFORM weft._record_pool_changes(
            v_machine.pool_id, ARRAY[kind], ARRAY[record_machine.machine], ARRAY[record_machine.reason]
        );
    END IF;
END $$;
