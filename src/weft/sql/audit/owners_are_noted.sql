-- Each operation on a batch that is there, and each completion of a batch, says whose the batch is; no other completion does.
-- A deletion by the previous release leaves the owner on its operation.
SELECT x.* FROM (
    SELECT 'operation' AS kind, o.operation_id AS number, o.owner_id, o.project_id, b.user_id, b.project_id AS project_of_batch
    FROM weft.operation o JOIN weft.batch b ON b.batch_id = o.batch_id
    UNION ALL
    SELECT 'completion', c.batch_id, c.owner_id, c.project_id, b.user_id, b.project_id
    FROM weft.group_completion c LEFT JOIN weft.batch b ON b.batch_id = c.batch_id AND c.group_id = 0) x
WHERE (x.owner_id, x.project_id) IS DISTINCT FROM (x.user_id, x.project_of_batch);
