-- list_parents: documents of the jobs that a job depends on directly, with numbers above `after`, in order;
--   `need`: what is enough of it, unless that is success.
-- Safe to repeat: yes, it only reads.
-- Raises WF101, WF102.
-- Plan: edges of the child by key from `after` on, each parent by key. They belong to the same update or to
--   earlier ones, which are committed as the child is.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_parents(
    tenant_id int, batch_id bigint, job_id int, after int, limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_ids int[];
BEGIN
    PERFORM weft._check_job(list_parents.batch_id, list_parents.job_id);
    IF NOT weft._sees_batch(list_parents.batch_id) THEN
        RETURN;  -- to whom single jobs were granted: of the others they see numbers alone
    END IF;
    v_ids := ARRAY(
        SELECT e.parent_id
        FROM weft.edge e
        WHERE e.batch_id = list_parents.batch_id
            AND e.child_id = list_parents.job_id
            AND e.parent_id > list_parents.after
        ORDER BY e.parent_id
        LIMIT list_parents.limit_rows
    );
    RETURN QUERY
    SELECT d.document || jsonb_strip_nulls(
        jsonb_build_object(
            'need', CASE
                WHEN e.need < 0 THEN -e.need || '%'
                WHEN e.need = NEED_END THEN 'end'
                WHEN e.need >= NEED_START THEN 'start'
            END
        )
    )
    FROM weft._job_documents(list_parents.batch_id, v_ids) d
    CROSS JOIN LATERAL (
        SELECT x.need
        FROM weft.edge x
        WHERE x.batch_id = list_parents.batch_id
            AND x.parent_id = d.job_id
            AND x.child_id = list_parents.job_id
        OFFSET 0
    ) e
    ORDER BY d.job_id;
END $$;
