-- Sums of what other sums hold by user or queue, so that a page reads one row however many users and queues there are:
-- in user_count of a billing project (as user 0), and of a tenant (as user 0, in project 0); in queue_count of `default`, which was what
-- the others left over.
INSERT INTO weft.user_count
SELECT u.tenant_id, 0, coalesce(u.project_id, 0), sum(u.n_pending), sum(u.n_ready), sum(u.n_queued), sum(u.n_creating), sum(u.n_running),
    sum(u.n_blocked)
FROM weft.user_count u WHERE u.user_id > 0 GROUP BY u.tenant_id, GROUPING SETS ((u.project_id), ());
INSERT INTO weft.queue_count (tenant_id, queue, n_waiting, n_running)
SELECT u.tenant_id, 'default', sum(u.n_pending + u.n_ready + u.n_queued + u.n_creating + u.n_blocked) - coalesce(min(q.n_waiting), 0),
    sum(u.n_running) - coalesce(min(q.n_running), 0)
FROM weft.user_count u
LEFT JOIN (SELECT c.tenant_id, sum(c.n_waiting) AS n_waiting, sum(c.n_running) AS n_running FROM weft.queue_count c GROUP BY 1) q
    USING (tenant_id)
WHERE u.user_id = 0 AND u.project_id = 0 GROUP BY 1;
-- What jobs use of each pool: the sum of user_share.running_m.
CREATE TABLE weft.pool_load (
    pool_id int PRIMARY KEY,
    running_m bigint NOT NULL
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.pool_load TO weft_system;
INSERT INTO weft.pool_load SELECT s.pool_id, sum(s.running_m) FROM weft.user_share s GROUP BY 1;
