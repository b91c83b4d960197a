-- Messages to running jobs: each becomes a file that the job may read. A message is removed when it is acknowledged.
ALTER TABLE weft.job_command ADD COLUMN message text;
ALTER TABLE weft.job_command DROP CONSTRAINT job_command_is_one, DROP CONSTRAINT job_command_signal_has_attempt;
ALTER TABLE weft.job_command ADD CONSTRAINT job_command_is_one CHECK (num_nonnulls(signal, extend_ms, message) = 1),
    ADD CONSTRAINT job_command_has_attempt CHECK (extend_ms IS NOT NULL OR attempt IS NOT NULL AND incarnation_id IS NOT NULL);
