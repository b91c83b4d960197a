-- _before_submit: what must be locked and known before jobs, or bytes, are added to a batch, or an update of
--   jobs that are there is committed: quotas, then limits of queues.
-- For: submit, create_batch, add_jobs, add_payload_part, add_resubmitted, copy_batch, commit_update; before
--   any row of the batch.
-- Safe to repeat: yes.
-- Locks: quotas (shared); as _lock_quotas; as _core_gates (the same rows); as _lock_limits.
-- Plan: quotas and queues by key, one look where none has a limit; shapes of the update, if queues limit how
--   many wait.
-- of_user_id NULL: the owner of the batch.
-- asked: what the jobs ask for; NULL: there are none, or they are those of of_update_id.
-- commits: what is added is committed in this transaction; else only bytes count already.
-- Returns: checks: whether there are quotas to check; counts: whether _at_commit has something to do.
-- limits: what _limit_gate_sets
--   needs; NULL: no limit.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._before_submit(
    of_tenant_id int,
    of_user_id int,
    of_batch_id bigint,
    asked jsonb[],
    commits boolean,
    of_update_id int DEFAULT NULL,
    OUT checks boolean,
    OUT counts boolean,
    OUT limits jsonb
) LANGUAGE plpgsql AS $$
DECLARE
    v_has record;
    v_queues text[] := '{}';
    v_cores jsonb;
BEGIN
    -- no; and a first quota is seen, or waits for us (_lock_quotas)
    checks := pg_advisory_xact_lock_shared(7706, of_tenant_id) IS NULL;
    SELECT
        EXISTS (SELECT FROM weft.quota x WHERE x.tenant_id = of_tenant_id) AS quotas,
        bool_or(q.max_waiting IS NOT NULL) AS waits,
        bool_or(q.limits <> '{}') AS runs
    INTO v_has
    FROM weft.queue q
    WHERE q.tenant_id = of_tenant_id;
    IF v_has.quotas THEN
        checks := weft._lock_quotas(of_tenant_id, of_user_id, of_batch_id, NOT commits) IS TRUE;
    END IF;
    counts := checks OR commits AND v_has.waits IS TRUE;
    IF v_has.quotas AND asked IS NOT NULL THEN
        v_cores := weft._core_gates(of_tenant_id, of_user_id, of_batch_id);
    END IF;
    IF v_has.waits AND of_update_id IS NOT NULL THEN
        asked := ARRAY(
            SELECT DISTINCT s.countables
            FROM weft.bunch_count c
            JOIN weft.shape s
            USING (shape_id)
            WHERE c.batch_id = of_batch_id AND c.update_id = of_update_id
        );
    END IF;
    IF asked IS NOT NULL AND (v_has.waits OR v_has.runs) THEN
        v_queues := weft._lock_limits(of_tenant_id, asked, commits);
    END IF;
    IF v_cores IS NOT NULL OR v_queues <> '{}' THEN
        limits := jsonb_build_object('cores', v_cores, 'queues', v_queues);
    END IF;
END $$;
