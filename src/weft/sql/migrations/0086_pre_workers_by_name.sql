-- Workers are listed page by page, each with its newest incarnation. Those that have ended in order may be many more than the others.
CREATE INDEX worker_name_idx ON weft.worker (name, worker_id);
CREATE INDEX worker_there_idx ON weft.worker (name, worker_id) WHERE deleted_at IS NULL;
CREATE INDEX worker_incarnation_newest_idx ON weft.worker_incarnation (worker_id, incarnation_id);
