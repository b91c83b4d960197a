-- _unpark: offer these parked jobs again, or put them before their gates. Late ones stay parked: the driver
--   ends them.
-- Safe to repeat: yes.
-- Returns: the sets of gates before which jobs now wait, or NULL.
-- Locks: ready_job.
-- Plan: ready_job, jobs and notes by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._unpark(of_batch_id bigint, of_job_ids int[]) RETURNS int[] LANGUAGE sql AS $$
    WITH listed AS (
        UPDATE weft.ready_job q
        SET gate_set_id = CASE
            WHEN b.gated
                THEN weft._job_gates(
                    b.gate_set_id,
                    (
                        SELECT j.gate_set_id
                        FROM weft.job j
                        WHERE j.batch_id = of_batch_id AND j.job_id = q.job_id
                    )
                )
            ELSE 0
        END
        FROM weft.batch b
        WHERE b.batch_id = of_batch_id
            AND q.batch_id = of_batch_id
            AND q.job_id = ANY (of_job_ids)
            AND q.gate_set_id = 1
            AND NOT EXISTS (
                SELECT FROM weft.late_job l WHERE l.batch_id = of_batch_id AND l.job_id = q.job_id
            )
        RETURNING q.gate_set_id
    )
    SELECT array_agg(DISTINCT l.gate_set_id)
    FROM listed l
    WHERE l.gate_set_id <> 0
$$;
