-- _preempted_gate: let a running job that is preempted wait at a gate with a date once it is ready again; it
--   has its place there, as all that run. An earlier such gate, which is open by now, is no longer the job's.
-- Safe to repeat: no.
-- Locks: job (by the caller); place (with the job); as _intern_gates; gate (nobody else).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._preempted_gate(job weft.job, waiting text, opens_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_kind CONSTANT text := 'preempted';
    v_set int;
    v_gate int;
BEGIN
    v_set := (
        weft._intern_gates(
            job.tenant_id,
            job.batch_id,
            ARRAY[
                jsonb_build_array(
                    jsonb_build_object(
                        'kind', v_kind,
                        'key', format('%s/%s.%s', waiting, job.job_id, job.attempt),
                        'opens_at', _preempted_gate.opens_at
                    )
                )
            ]
        )
    )[1];
    SELECT s.gate_ids[1] INTO v_gate FROM weft.gate_set s WHERE s.gate_set_id = v_set;
    UPDATE weft.gate g SET n_taken = g.n_taken + 1 WHERE g.gate_id = v_gate;
    INSERT INTO weft.place (batch_id, job_id, gate_id, tenant_id, admitted_at)
    VALUES (job.batch_id, job.job_id, v_gate, job.tenant_id, clock_timestamp());
    UPDATE weft.job j
    SET gate_set_id = (
        SELECT weft._gate_set_id(v_gate || array_agg(m.gate_id), 1 || array_agg(m.cost))
        FROM weft.gate_member m
        JOIN weft.gate g
        USING (gate_id)
        WHERE m.gate_set_id = job.gate_set_id AND g.kind <> v_kind
    )
    WHERE j.batch_id = job.batch_id AND j.job_id = job.job_id;
    WITH gone AS (
        DELETE FROM weft.place p
        USING weft.gate g
        WHERE p.batch_id = job.batch_id
            AND p.job_id = job.job_id
            AND g.gate_id = p.gate_id
            AND g.kind = v_kind
            AND g.gate_id <> v_gate
        RETURNING p.gate_id
    )
    INSERT INTO weft.gate_note (gate_id, n_freed)
    SELECT g.gate_id, 1
    FROM gone g;
END $$;
