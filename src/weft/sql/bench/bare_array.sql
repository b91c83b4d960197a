-- bare_array: the reference of `make bench NAME=arrays`: a table with the columns and the key of weft.job,
--   and nothing else.
DROP SCHEMA IF EXISTS bare CASCADE;
CREATE SCHEMA bare;
CREATE TABLE bare.job (
    LIKE weft.job INCLUDING DEFAULTS,
    PRIMARY KEY (batch_id, job_id)
);
