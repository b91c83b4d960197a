-- Lanes: what a job asks of a worker beside cpu and memory, interned. Numbers are amounts, which a job takes while it runs; words must be
-- offered. A worker serves the lanes that it can ever serve; what is free now is a budget of the claim.
CREATE TABLE weft.lane (
    lane_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    asks jsonb NOT NULL UNIQUE,
    amounts jsonb NOT NULL         -- the numbers among them
);
INSERT INTO weft.lane (lane_id, asks, amounts) OVERRIDING SYSTEM VALUE VALUES (0, '{"executor": "process"}', '{}');

CREATE TABLE weft.worker_lane (
    incarnation_id int NOT NULL REFERENCES weft.worker_incarnation ON DELETE CASCADE,
    lane_id int NOT NULL REFERENCES weft.lane,
    PRIMARY KEY (incarnation_id, lane_id)
);

-- What the incarnation offers beside cpu and memory: amounts by name, and a word or a list of words. NULL: an older program registered it,
-- which offers its storage and gpus and both executors (weft._offers).
ALTER TABLE weft.worker_incarnation ADD COLUMN offers jsonb;
ALTER TABLE weft.shape ADD COLUMN lane_id int REFERENCES weft.lane;        -- NULL: an older program added it
ALTER TABLE weft.job ADD COLUMN lane_id int NOT NULL DEFAULT 0;            -- of its shape, so that a claim need not look it up
ALTER TABLE weft.runnable ADD COLUMN lane_id int NOT NULL DEFAULT 0;       -- of all jobs that it holds; other jobs among them are listed
ALTER TABLE weft.ready_job ADD COLUMN lane_id int NOT NULL DEFAULT 0;
ALTER TABLE weft.claim ADD COLUMN lane_id int;                             -- of its jobs; NULL: an older program claimed them
-- Where neighbours of one lane begin in a bunch, and their lanes; jobs of other lanes among them are listed.
-- NULL: an older program added it.
ALTER TABLE weft.bunch ADD COLUMN lane_firsts int[];
ALTER TABLE weft.bunch ADD COLUMN lane_ids int[];

-- What is there already. Shapes first, with the lanes that they need.
CREATE TEMPORARY TABLE asked ON COMMIT DROP AS
SELECT s.shape_id, a.amounts || '{"executor": "process"}' AS asks, a.amounts FROM weft.shape s
CROSS JOIN LATERAL (
    SELECT s.countables || CASE WHEN s.storage_mib > 0 THEN jsonb_build_object('storage_mib', s.storage_mib) ELSE '{}' END
           || CASE WHEN s.gpu > 0 THEN jsonb_build_object('gpu', s.gpu) ELSE '{}' END AS amounts) a;
INSERT INTO weft.lane (asks, amounts) SELECT DISTINCT a.asks, a.amounts FROM asked a ON CONFLICT DO NOTHING;
UPDATE weft.shape s SET lane_id = l.lane_id FROM asked a JOIN weft.lane l USING (asks) WHERE a.shape_id = s.shape_id;
INSERT INTO weft.worker_lane (incarnation_id, lane_id)
SELECT i.incarnation_id, l.lane_id FROM weft.worker_incarnation i CROSS JOIN weft.lane l
WHERE i.ended_at IS NULL AND NOT EXISTS (
    SELECT FROM jsonb_each(l.amounts) m
    WHERE m.value > CASE m.key WHEN 'storage_mib' THEN to_jsonb(i.storage_mib) WHEN 'gpu' THEN to_jsonb(i.gpu) ELSE '0' END);
-- Jobs of such shapes, found by their bunches. Those that a range would give to everybody are listed in their lane.
WITH part AS (
    SELECT DISTINCT x.batch_id, x.first_job, x.first_job + x.n_jobs - 1 AS last_job
    FROM weft.bunch_count c JOIN weft.shape s USING (shape_id) JOIN weft.bunch x USING (batch_id, update_id, first_job)
    WHERE s.lane_id <> 0)
UPDATE weft.job j SET lane_id = s.lane_id FROM part p, weft.shape s
WHERE j.batch_id = p.batch_id AND j.job_id BETWEEN p.first_job AND p.last_job AND j.asks_more AND s.shape_id = j.shape_id;
WITH moved AS (
    UPDATE weft.job j SET listed = true FROM weft.runnable r
    WHERE j.batch_id = r.batch_id AND j.job_id BETWEEN r.low_job AND r.last_job AND j.lane_id <> 0 AND j.state = 1 AND NOT j.listed
    RETURNING j.batch_id, j.job_id, j.tenant_id, j.lane_id, j.priority, r.pool_id, r.user_id)
INSERT INTO weft.ready_job (pool_id, user_id, rank, batch_id, job_id, tenant_id, lane_id)
SELECT m.pool_id, m.user_id, -m.priority, m.batch_id, m.job_id, m.tenant_id, m.lane_id FROM moved m ON CONFLICT DO NOTHING;
UPDATE weft.ready_job q SET lane_id = j.lane_id FROM weft.job j
WHERE j.batch_id = q.batch_id AND j.job_id = q.job_id AND j.lane_id <> q.lane_id;
