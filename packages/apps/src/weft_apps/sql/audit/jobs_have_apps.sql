-- Each job of an application has the content that it was submitted with, and each content all its parts.
SELECT x.batch_id, x.job_id, x.revision_id, 'not kept' AS problem
FROM (
    SELECT l.batch_id, l.job_id, (l.rare_fields ->> 'app_revision')::bigint AS revision_id
    FROM weft.job_label l
    WHERE l.rare_fields ? 'app_revision'
    UNION ALL
    SELECT a.batch_id, a.first_job, (a.rare_fields ->> 'app_revision')::bigint
    FROM weft.job_array a
    WHERE a.rare_fields ? 'app_revision'
) x
JOIN weft.batch b ON b.batch_id = x.batch_id AND NOT b.removing
WHERE NOT EXISTS (
    SELECT
    FROM weft.app_use u
    JOIN weft.app_revision r
    USING (revision_id)
    WHERE u.batch_id = x.batch_id AND u.revision_id = x.revision_id AND r.tenant_id = b.tenant_id
)
UNION ALL
SELECT NULL, NULL, r.revision_id, 'parts are missing'
FROM weft.app_revision r
WHERE r.n_bytes <> coalesce(
    (
        SELECT sum(octet_length(p.body))
        FROM weft.app_part p
        WHERE p.tenant_id = r.tenant_id AND p.digest = r.digest
    ),
    0
)
