-- _remove_output: remove the notes of a batch that is complete, and note that its output and files are gone;
--   workers and apis are told to remove the bytes.
-- Safe to repeat: yes.
-- Locks: job (nobody else: notes of jobs that have ended); output_term (nobody else).
-- Plan: jobs, attempts, files and notes of the batch.
-- Returns: how many bytes count no more; NULL: the batch goes on, or is being deleted.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._remove_output(of_batch_id bigint, why text, at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_tenant int;
    v_bytes bigint;
    v_before bigint;
    v_notes bigint;
BEGIN
    SELECT b.tenant_id
    INTO v_tenant
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id
        AND b.deleted_at IS NULL
        AND NOT b.removing
        AND NOT EXISTS (SELECT FROM weft.job j WHERE j.batch_id = b.batch_id AND j.state < STATE_SUCCESS);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    v_bytes := weft._saturated(
        coalesce(
            (
                SELECT sum(weft._kept_bytes(a.stdout_bytes, a.stderr_bytes, a.truncated))
                FROM weft.attempt a
                WHERE a.batch_id = of_batch_id
            ),
            0
        ) + coalesce(
            (
                SELECT sum(f.n_bytes)
                FROM weft.job_file f
                WHERE f.batch_id = of_batch_id AND f.address IS NULL AND f.from_batch IS NULL
            ),
            0
        )
    );
    v_before := coalesce((SELECT t.n_bytes FROM weft.output_term t WHERE t.batch_id = of_batch_id), 0);
    INSERT INTO weft.output_term AS t (batch_id, tenant_id, removed_at, why, n_bytes)
    VALUES (of_batch_id, v_tenant, _remove_output.at, _remove_output.why, v_bytes)
    ON CONFLICT (batch_id) DO UPDATE
    SET removed_at = excluded.removed_at, why = excluded.why, n_bytes = excluded.n_bytes;
    WITH gone AS (
        DELETE FROM weft.job_note n WHERE n.batch_id = of_batch_id RETURNING octet_length(n.body) AS n_bytes
    )
    SELECT coalesce(sum(g.n_bytes), 0)
    INTO v_notes
    FROM gone g;
    IF v_bytes + v_notes > v_before THEN
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, stored_bytes)
        VALUES (v_tenant, of_batch_id, 0, 0, 0, v_before - v_bytes - v_notes);
    END IF;
    PERFORM pg_notify('removed', of_batch_id::text);
    RETURN v_bytes + v_notes - v_before;
END $$;
