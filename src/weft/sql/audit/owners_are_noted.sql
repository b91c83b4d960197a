-- Each operation on a batch that is there, completion of a batch, limit, schedule and cause of failures says
--   whose it is.
-- No other completion does. The project of a schedule is the one that has the name which it gives.
SELECT x.*
FROM (
    SELECT
        'operation' AS kind,
        o.operation_id AS number,
        o.owner_id,
        o.project_id,
        b.user_id,
        b.project_id AS project_of_batch
    FROM weft.operation o
    JOIN weft.batch b ON b.batch_id = o.batch_id
    UNION ALL
    SELECT 'completion', c.batch_id, c.owner_id, c.project_id, b.user_id, b.project_id
    FROM weft.group_completion c
    LEFT JOIN weft.batch b ON b.batch_id = c.batch_id AND c.group_id = 0
    UNION ALL
    SELECT
        'limit',
        l.limit_id,
        l.owner_id,
        l.shared_project_id,
        coalesce(l.user_id, b.user_id),
        coalesce(l.project_id, b.project_id)
    FROM weft.spend_limit l
    LEFT JOIN weft.batch b ON b.batch_id = l.batch_id
    UNION ALL
    SELECT 'cause', c.batch_id, c.owner_id, c.project_id, b.user_id, b.project_id
    FROM weft.failure_cause c
    LEFT JOIN weft.batch b ON b.batch_id = c.batch_id
    UNION ALL
    SELECT
        'schedule',
        s.schedule_id,
        NULL,
        s.project_id,
        NULL,
        (SELECT p.project_id FROM weft._find_projects(s.tenant_id, ARRAY[s.billing_project]) p)
    FROM weft.schedule s
) x
WHERE (x.owner_id, x.project_id) IS DISTINCT FROM (x.user_id, x.project_of_batch);
