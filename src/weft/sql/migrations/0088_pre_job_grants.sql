-- Single jobs can be granted, too.
ALTER TABLE weft.batch_grant ADD COLUMN job_id int NOT NULL DEFAULT 0;  -- 0: the whole batch
ALTER TABLE weft.batch_grant DROP CONSTRAINT batch_grant_pkey, ADD PRIMARY KEY (batch_id, job_id, user_id);
DROP INDEX weft.batch_grant_user_idx;
-- A page of batches reads grants of batches alone, however many single jobs were granted.
CREATE INDEX batch_grant_user_idx ON weft.batch_grant (user_id, batch_id) WHERE job_id = 0;
CREATE INDEX batch_grant_job_idx ON weft.batch_grant (user_id, batch_id, job_id) WHERE job_id > 0;
