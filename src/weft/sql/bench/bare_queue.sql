-- bare_queue: the reference of `weft bench statemachine`: one table, nothing but the state of a job.
DROP SCHEMA IF EXISTS bare CASCADE;
CREATE SCHEMA bare;
CREATE TABLE bare.queue (
    id bigint PRIMARY KEY,
    state smallint NOT NULL,
    payload int
) WITH (fillfactor = 80);
CREATE INDEX queue_ready_idx ON bare.queue (id) WHERE state = 1;
