-- The groups directly below a group, and the batches of a tenant with jobs that failed and are not acknowledged, are listed page by page:
-- by these indexes no others are read.
CREATE INDEX job_group_parent_idx ON weft.job_group (batch_id, parent_id, group_id) WHERE parent_id IS NOT NULL;
CREATE INDEX failure_cause_open_idx ON weft.failure_cause (tenant_id, batch_id) WHERE n_jobs > n_acknowledged;
