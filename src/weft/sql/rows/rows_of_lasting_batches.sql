-- What a check of the audit finds in batches that are there as a whole.
SELECT x.*
FROM (CHECKED) x
WHERE NOT EXISTS (SELECT FROM weft.batch d WHERE d.batch_id = x.batch_id AND d.removing)
