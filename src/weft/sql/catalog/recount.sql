-- What the previous release counted while the tables changed, once the functions that know all sums are installed. For one release.
-- Folds that began before have ended.
SELECT FROM weft.driver_state FOR UPDATE;
-- A batch that was removed has no owner.
UPDATE weft.operation o SET owner_id = NULL, project_id = NULL
WHERE o.owner_id IS NOT NULL AND NOT EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = o.batch_id);
-- Rows from before their owners were noted.
UPDATE weft.schedule s SET project_id = p.project_id
FROM (SELECT x.schedule_id, y.project_id FROM weft.schedule x
      LEFT JOIN LATERAL weft._find_projects(x.tenant_id, ARRAY[x.billing_project]) y ON true) p
WHERE p.schedule_id = s.schedule_id AND p.project_id IS DISTINCT FROM s.project_id;
UPDATE weft.spend_limit l SET owner_id = l.user_id, shared_project_id = l.project_id
WHERE l.batch_id IS NULL AND l.owner_id IS NULL AND l.shared_project_id IS NULL;
UPDATE weft.spend_limit l SET owner_id = b.user_id, shared_project_id = b.project_id
FROM weft.batch b WHERE b.batch_id = l.batch_id AND l.owner_id IS NULL;
UPDATE weft.failure_cause c SET owner_id = b.user_id, project_id = b.project_id
FROM weft.batch b WHERE b.batch_id = c.batch_id AND c.owner_id IS NULL;
SELECT weft._note_condition_batches();
-- Specs of updates that are not committed, and batches that have no jobs yet: nobody submits until they are counted.
LOCK TABLE weft.batch_update IN EXCLUSIVE MODE;
WITH counted AS (
    UPDATE weft.bunch x SET n_bytes = (
        SELECT coalesce(sum(octet_length(p.body)), 0) FROM weft.job_spec p
        WHERE p.batch_id = x.batch_id AND p.first_job >= x.first_job AND p.first_job < x.first_job + x.n_jobs)
    FROM weft.batch_update u
    WHERE u.committed_at IS NULL AND x.batch_id = u.batch_id AND x.update_id = u.update_id AND x.n_bytes IS NULL
    RETURNING x.tenant_id, x.batch_id, x.n_bytes)
INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, stored_bytes)
SELECT c.tenant_id, c.batch_id, 0, 0, 0, sum(c.n_bytes) FROM counted c GROUP BY 1, 2;
INSERT INTO weft.empty_batch (batch_id, tenant_id, created_at)
SELECT b.batch_id, b.tenant_id, b.created_at FROM weft.tenant t
CROSS JOIN LATERAL (
    SELECT x.* FROM weft.batch x WHERE x.tenant_id = t.tenant_id AND x.created_at > clock_timestamp() - interval '1 day' OFFSET 0) b
WHERE b.deleted_at IS NULL
  AND NOT EXISTS (SELECT FROM weft.batch_update u WHERE u.batch_id = b.batch_id AND u.n_jobs > 0 AND u.committed_at IS NOT NULL)
ON CONFLICT DO NOTHING;
SELECT weft._recount_users(), weft._recount_usage(((SELECT m.applied_at FROM weft.migration m
    WHERE m.name = '0096_pre_usage_sums') AT TIME ZONE 'UTC')::date - 1), weft._recount_shares();
