-- acknowledge_commands: record what attempts of a worker were told, or why not.
-- Safe to repeat: yes, what is recorded is gone.
-- Locks: job_command (in order); as _announce.
-- Plan: commands and jobs by key.
-- outcomes: empty, or why a command was not obeyed.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.acknowledge_commands(
    incarnation_id int,
    command_ids bigint[],
    attempts smallint[],
    outcomes text[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM
    FROM weft.job_command c
    WHERE c.command_id = ANY (acknowledge_commands.command_ids)
    ORDER BY c.command_id
    FOR UPDATE;
    WITH told AS (
        SELECT
            c.command_id,
            t.a AS attempt,
            t.outcome, j.state, c.signal, c.extend_ms, c.batch_id, c.job_id, c.tenant_id, c.actor, c.word
        FROM unnest(
            acknowledge_commands.command_ids, acknowledge_commands.attempts, acknowledge_commands.outcomes
        ) t (id, a, outcome)
        JOIN weft.job_command c ON c.command_id = t.id
        CROSS JOIN LATERAL (
            SELECT y.* FROM weft.job y WHERE y.batch_id = c.batch_id AND y.job_id = c.job_id OFFSET 0
        ) j
        WHERE CASE
            WHEN c.extend_ms IS NOT NULL
                THEN j.incarnation_id = acknowledge_commands.incarnation_id AND j.attempt = t.a
            ELSE c.incarnation_id = acknowledge_commands.incarnation_id AND c.attempt = t.a
        END
    ),
    gone AS (
        DELETE FROM weft.job_command c USING told t WHERE c.command_id = t.command_id AND t.extend_ms IS NULL
    ),
    kept AS (
        UPDATE weft.job_command c
        SET attempt = t.attempt
        FROM told t
        WHERE c.command_id = t.command_id AND t.extend_ms IS NOT NULL
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, jobs)
        SELECT
            acknowledge_commands.at,
            t.tenant_id,
            t.batch_id,
            CASE WHEN t.signal IS NULL THEN 'jobs.messaged' ELSE 'jobs.signalled' END,
            array_agg(t.job_id)
        FROM told t
        WHERE t.extend_ms IS NULL AND t.outcome = ''
        GROUP BY 2, 3, 4
    )
    INSERT INTO weft.job_change (
        batch_id, job_id, tenant_id, at, from_state, to_state, attempt, actor, subtype, message
    )
    SELECT
        t.batch_id, t.job_id, t.tenant_id, acknowledge_commands.at, t.state, t.state, t.attempt, t.actor,
        CASE
            WHEN t.extend_ms IS NOT NULL THEN 'extended'
            WHEN t.signal IS NULL THEN 'message'
            ELSE 'signal'
        END,
        coalesce(t.word, 'the extension') || CASE t.outcome
            WHEN '' THEN ' was delivered'
            ELSE ' was not delivered: ' || left(t.outcome, 200)
        END
    FROM told t
    WHERE t.extend_ms IS NULL OR t.outcome <> '';
    PERFORM weft._announce();
END $$;
