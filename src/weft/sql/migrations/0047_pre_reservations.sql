-- Workers that are kept for large jobs which wait long (ADR 37): the next claim of the worker is of this job.
CREATE TABLE weft.reservation (
    incarnation_id int PRIMARY KEY REFERENCES weft.worker_incarnation ON DELETE CASCADE,
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    user_id int NOT NULL,
    reserved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (batch_id, job_id)
);
ALTER TABLE weft.reservation ENABLE ROW LEVEL SECURITY;
CREATE POLICY system_rows ON weft.reservation TO weft_system USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.reservation TO weft_system;
