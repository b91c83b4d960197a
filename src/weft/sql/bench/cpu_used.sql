-- cpu_used: mCPU seconds that the ended attempts of batches $1 took between the times $2 and $3, in seconds
--   of the epoch, and how many of their jobs still wait.
SELECT
    b.batch_id,
    (
        SELECT coalesce(
            sum(
                j.cpu_m * greatest(
                    0,
                    date_part(
                        'epoch',
                        least(a.ended_at, to_timestamp($3)) - greatest(a.started_at, to_timestamp($2))
                    )
                )
            ),
            0
        )
        FROM weft.attempt a
        JOIN weft.job j
        USING (batch_id, job_id)
        WHERE a.batch_id = b.batch_id AND a.started_at < to_timestamp($3) AND a.ended_at > to_timestamp($2)
    ) AS used,
    (SELECT count(*) FROM weft.job j WHERE j.batch_id = b.batch_id AND j.state = 1) AS n_waiting
FROM unnest($1::bigint[]) b (batch_id)
ORDER BY b.batch_id
