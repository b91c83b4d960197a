-- pause_of_limit: when the limits of these batches held the last one of them, in seconds of the epoch.
SELECT extract(epoch FROM max(h.held_at))::double precision
FROM weft.group_hold h
WHERE h.batch_id = ANY ($1::bigint[]) AND h.limit_id <> 0 AND h.released_at IS NULL
