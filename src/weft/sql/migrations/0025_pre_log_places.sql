-- Where a worker keeps the output of its jobs. NULL: it did not say, as workers of an earlier release.
ALTER TABLE weft.worker_incarnation
    ADD COLUMN log_place text CHECK (length(log_place) <= 64),
    ADD COLUMN log_directory text CHECK (length(log_directory) <= 4096);
