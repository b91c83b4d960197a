-- list_children: documents of the committed jobs that depend directly on a job, with numbers above `after`,
--   in order.
-- Safe to repeat: yes, it only reads.
-- Raises WF101, WF102.
-- Plan: edges of the parent by key from `after` on, each child and its update by key. After a page that ends
--   within an update that is not committed, the rest of that update is passed over unread.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_children(
    tenant_id int, batch_id bigint, job_id int, after int, limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_ids int[] := '{}';
    v_found int[];
    v_after int := list_children.after;
BEGIN
    PERFORM weft._check_job(list_children.batch_id, list_children.job_id);
    IF NOT weft._sees_batch(list_children.batch_id) THEN
        RETURN;  -- to whom single jobs were granted: of the others they see nothing
    END IF;
    WHILE v_after IS NOT NULL AND cardinality(v_ids) < limit_rows LOOP
        SELECT
            array_agg(e.child_id ORDER BY e.child_id) FILTER (WHERE u.is_committed),
            max(CASE WHEN u.is_committed THEN e.child_id ELSE u.last_job END)
        INTO v_found, v_after
        FROM (
            SELECT x.child_id
            FROM weft.edge x
            WHERE x.batch_id = list_children.batch_id
                AND x.parent_id = list_children.job_id
                AND x.child_id > v_after
            ORDER BY x.child_id
            LIMIT limit_rows - cardinality(v_ids)
        ) e
        CROSS JOIN LATERAL (
            SELECT y.committed_at IS NOT NULL AS is_committed, y.first_job + y.n_jobs - 1 AS last_job
            FROM weft.job j
            JOIN weft.batch_update y ON y.batch_id = j.batch_id AND y.update_id = j.update_id
            WHERE j.batch_id = list_children.batch_id AND j.job_id = e.child_id
            OFFSET 0
        ) u;
        v_ids := v_ids || coalesce(v_found, '{}');
    END LOOP;
    RETURN QUERY
    SELECT d.document FROM weft._job_documents(list_children.batch_id, v_ids) d ORDER BY d.job_id;
END $$;
