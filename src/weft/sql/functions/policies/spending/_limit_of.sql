-- _limit_of: the first limit at which a job is paused, or near which it waits to be admitted, as facts; NULL:
--   there is none. Job 0 stands for the group.
-- Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._limit_of(of_batch_id bigint, of_group_id int, of_job_id int) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'kind', weft._limit_kind(l),
        'measure', l.measure,
        'amount_max', l.amount_max,
        'near', h.admits,
        'name', coalesce(
            (SELECT p.name FROM weft.billing_project p WHERE p.project_id = l.project_id),
            (SELECT u.name FROM weft.tenant_user u WHERE u.user_id = l.user_id),
            (
                SELECT coalesce(g.path, g.name)
                FROM weft.job_group g
                WHERE g.batch_id = l.batch_id AND g.group_id = l.group_id
            )
        )
    )
    FROM weft.group_ancestor a
    JOIN weft.group_hold h ON h.batch_id = a.batch_id
        AND h.group_id = a.ancestor_id
        AND h.limit_id <> 0
        AND h.released_at IS NULL
    JOIN weft.spend_limit l ON l.limit_id = h.limit_id
    WHERE a.batch_id = of_batch_id
        AND a.group_id = of_group_id
        AND (NOT h.admits OR weft._is_closed(of_batch_id, of_group_id, of_job_id))
    ORDER BY h.admits, l.limit_id
    LIMIT 1
$$;
