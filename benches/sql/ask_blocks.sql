-- Say of all attempts that run what they wait for, as their worker does it for each.
INSERT INTO weft.block_request (batch_id, job_id, attempt, tenant_id, kind, tester, parameters)
SELECT
    j.batch_id,
    j.job_id,
    j.attempt,
    j.tenant_id,
    'connection_failed',
    'tcp',
    '{"host": "service", "port": "80"}'
FROM weft.job j
WHERE j.state = 4
ON CONFLICT (batch_id, job_id) DO UPDATE
SET attempt = excluded.attempt
