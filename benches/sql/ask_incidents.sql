-- Say of all attempts that run what they wait for, each for something else that is away.
INSERT INTO weft.block_request (batch_id, job_id, attempt, tenant_id, kind, tester, parameters)
SELECT
    j.batch_id,
    j.job_id,
    j.attempt,
    j.tenant_id,
    'connection_failed',
    'tcp',
    jsonb_build_object('host', format('127.%s.%s.1', 1 + j.job_id / 250, 1 + j.job_id % 250), 'port', '1')
FROM weft.job j
WHERE j.state = 4
ON CONFLICT (batch_id, job_id) DO UPDATE
SET attempt = excluded.attempt, parameters = excluded.parameters
