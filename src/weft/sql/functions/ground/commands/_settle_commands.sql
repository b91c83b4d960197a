-- _settle_commands: record that old signals and messages did not reach their attempts, because these ended
--   first, and forget extensions of jobs that have ended.
-- Safe to repeat: yes.
-- Locks: job_command (SKIP LOCKED).
-- Plan: commands, which are few; jobs by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._settle_commands(at timestamptz) RETURNS void LANGUAGE sql AS $$
    WITH over AS (
        SELECT c.command_id, j.state
        FROM weft.job_command c
        CROSS JOIN LATERAL (
            SELECT y.* FROM weft.job y WHERE y.batch_id = c.batch_id AND y.job_id = c.job_id OFFSET 0
        ) j
        WHERE CASE
            WHEN c.extend_ms IS NOT NULL THEN j.state >= STATE_SUCCESS
            -- An acknowledgement may be on its way.
            ELSE c.at < _settle_commands.at - interval '10 s'
                AND (j.state <> STATE_RUNNING OR j.attempt <> c.attempt)
        END
        ORDER BY c.command_id
        LIMIT 1000
        FOR UPDATE OF c SKIP LOCKED
    ),
    gone AS (
        DELETE FROM weft.job_command c USING over o WHERE c.command_id = o.command_id RETURNING c.*, o.state
    )
    INSERT INTO weft.job_change (
        batch_id, job_id, tenant_id, at, from_state, to_state, attempt, actor, subtype, message
    )
    SELECT
        g.batch_id, g.job_id, g.tenant_id, _settle_commands.at, g.state, g.state, g.attempt, g.actor,
        CASE WHEN g.message IS NULL THEN 'signal' ELSE 'message' END,
        format('%s was not delivered: the attempt had ended', g.word)
    FROM gone g
    WHERE g.extend_ms IS NULL
$$;
