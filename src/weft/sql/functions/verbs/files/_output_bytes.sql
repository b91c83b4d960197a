-- _output_bytes: how much the output and the files of a batch count as stored.
-- Plan: attempts and files of the batch.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._output_bytes(of_batch_id bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT weft._saturated(coalesce((SELECT sum(weft._kept_bytes(a.stdout_bytes, a.stderr_bytes, a.truncated))
            FROM weft.attempt a WHERE a.batch_id = of_batch_id), 0)
        + coalesce((SELECT sum(f.n_bytes) FROM weft.job_file f WHERE f.batch_id = of_batch_id AND f.address IS NULL), 0))
$$;
