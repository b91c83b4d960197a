-- When the cancel of a group by its limit of failures was lifted. Failures up to then no longer count.
ALTER TABLE weft.failure_count ADD COLUMN lifted_at timestamptz;
