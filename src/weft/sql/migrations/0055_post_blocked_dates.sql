-- Replaced by blocked_job_own_date_idx.
DROP INDEX weft.blocked_job_next_at_idx;
