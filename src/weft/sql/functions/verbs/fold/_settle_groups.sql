-- _settle_groups: record which of these groups completed, with the callbacks to send, and which became
--   incomplete again through new jobs or a retry. A group that grew or was retried, and completed again
--   between two folds, counts as another completion. A set that is still being filled is invisible to
--   readers, and completes when it is shown.
-- Safe to repeat: yes.
-- For: fold_deltas, after it has moved the sums, so that no reporting process is needed; fill_set.
-- Locks: sums; as _announce.
-- Plan: by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._settle_groups(
    batch_ids bigint[], group_ids int[], have_grown boolean[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint[];
    v_group int[];
BEGIN
    WITH now AS MATERIALIZED (
        SELECT
            c.batch_id,
            c.group_id,
            c.tenant_id,
            c.complete,
            t.grown,
            c.n_pending + c.n_ready + c.n_queued + c.n_creating + c.n_running + c.n_blocked = 0
                AND c.n_succeeded + c.n_failed + c.n_errored + c.n_cancelled > 0
                AND NOT EXISTS (
                    SELECT
                    FROM weft.job_group g
                    WHERE g.batch_id = c.batch_id AND g.group_id = c.group_id AND g.hidden
                ) AS is_complete
        FROM unnest(_settle_groups.batch_ids, _settle_groups.group_ids, _settle_groups.have_grown) t (
            b, g, grown
        )
        JOIN weft.group_count c ON c.batch_id = t.b AND c.group_id = t.g
    ),
    upd AS (
        UPDATE weft.group_count c
        SET complete = n.is_complete, n_completions = c.n_completions + n.is_complete::int
        FROM now n
        WHERE c.batch_id = n.batch_id
            AND c.group_id = n.group_id
            AND (n.complete <> n.is_complete OR n.is_complete AND n.grown)
        RETURNING c.batch_id, c.group_id, c.tenant_id, c.n_completions, c.complete, c.last_ended_at
    ),
    done AS (
        INSERT INTO weft.group_completion (batch_id, group_id, completion, tenant_id, completed_at)
        SELECT
            u.batch_id,
            u.group_id,
            u.n_completions,
            u.tenant_id,
            weft._completed_at(g.created_at, u.last_ended_at, _settle_groups.at)
        FROM upd u
        JOIN weft.job_group g ON g.batch_id = u.batch_id AND g.group_id = u.group_id
        WHERE u.complete
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, groups)
        SELECT
            _settle_groups.at,
            u.tenant_id,
            u.batch_id,
            CASE WHEN u.group_id = 0 THEN 'batch.complete' ELSE 'group.complete' END,
            array_agg(u.group_id)
        FROM upd u
        WHERE u.complete
        GROUP BY u.tenant_id, u.batch_id, u.group_id = 0
    )
    SELECT array_agg(u.batch_id) FILTER (WHERE u.complete), array_agg(u.group_id) FILTER (WHERE u.complete)
    INTO v_batch, v_group
    FROM upd u;
    IF v_batch IS NOT NULL THEN
        PERFORM weft._after_completion(v_batch, v_group, _settle_groups.at);
        PERFORM weft._announce();
    END IF;
END $$;
