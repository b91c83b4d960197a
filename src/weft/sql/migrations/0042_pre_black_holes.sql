-- Workers that the driver cordoned because attempts fail there at once, and their tries (weft.core.black_holes).
CREATE TABLE weft.black_hole (
    worker_id int PRIMARY KEY REFERENCES weft.worker ON DELETE CASCADE,
    n_tries int NOT NULL DEFAULT 0,             -- that failed
    try_at timestamptz NOT NULL,                -- the next one is due; it takes one job
    try_batch_id bigint,                        -- the job that the worker took for the last try; NULL: none yet
    try_job_id int,
    try_attempt smallint,
    CONSTRAINT black_hole_job_check CHECK ((try_batch_id IS NULL) = (try_job_id IS NULL) AND (try_batch_id IS NULL) = (try_attempt IS NULL))
);
ALTER TABLE weft.black_hole ENABLE ROW LEVEL SECURITY;
CREATE POLICY system_rows ON weft.black_hole TO weft_system USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.black_hole TO weft_system;
-- It may claim one job, although its worker is cordoned.
ALTER TABLE weft.worker_incarnation ADD COLUMN trying boolean NOT NULL DEFAULT false;
