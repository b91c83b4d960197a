-- What a batch has replaced had the same key, of the same user, and was cancelled with that; one submission
--   replaces it.
SELECT b.batch_id, b.replaces, b.unique_key
FROM weft.batch b
JOIN weft.batch r ON r.batch_id = b.replaces AND NOT r.removing
WHERE (r.user_id, r.unique_key) IS DISTINCT FROM (b.user_id, b.unique_key)
    OR r.batch_id > b.batch_id
    OR NOT EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = r.batch_id AND c.group_id = 0)
    OR EXISTS (
        SELECT
        FROM weft.batch x
        WHERE x.replaces = b.replaces
            AND x.batch_id <> b.batch_id
            AND x.user_id = b.user_id
            AND x.unique_key = b.unique_key
    )
