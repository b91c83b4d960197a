-- Jobs of an update that was not committed when lanes came (0018): its commit makes one range of it, in lane 0. Those that ask for more are
-- listed, as in updates that were committed before.
WITH part AS (
    SELECT DISTINCT x.batch_id, x.update_id, x.first_job, x.first_job + x.n_jobs - 1 AS last_job
    FROM weft.bunch x
    JOIN weft.batch_update u ON u.batch_id = x.batch_id AND u.update_id = x.update_id AND u.committed_at IS NULL
    JOIN weft.bunch_count c ON c.batch_id = x.batch_id AND c.update_id = x.update_id AND c.first_job = x.first_job
    JOIN weft.shape s ON s.shape_id = c.shape_id AND s.lane_id <> 0
    WHERE x.lane_firsts IS NULL),
moved AS (
    UPDATE weft.job j SET listed = true FROM part p
    WHERE j.batch_id = p.batch_id AND j.job_id BETWEEN p.first_job AND p.last_job AND j.lane_id <> 0 AND j.state = 1 AND NOT j.listed
    RETURNING p.batch_id, p.update_id, p.first_job)
UPDATE weft.bunch x SET n_listed = x.n_listed + m.n, n_ranged = x.n_ranged - m.n
FROM (SELECT o.batch_id, o.update_id, o.first_job, count(*) AS n FROM moved o GROUP BY 1, 2, 3) m
WHERE x.batch_id = m.batch_id AND x.update_id = m.update_id AND x.first_job = m.first_job;
