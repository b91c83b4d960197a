-- _note_foreign_end: note that the job of a door has ended, and how; one that was retried meanwhile will end again.
-- Safe to repeat: yes.   Locks: foreign_end.   Plan: by key.   Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._note_foreign_end(completion weft.group_completion, of_door text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO weft.foreign_end (batch_id, tenant_id, user_id, door, state, ended_at)
    SELECT completion.batch_id, completion.tenant_id, completion.owner_id, of_door, j.state, completion.completed_at
    FROM weft.job j WHERE j.batch_id = completion.batch_id AND j.job_id = 1 AND j.state >= STATE_SUCCESS
    ON CONFLICT (batch_id) DO UPDATE SET state = excluded.state, ended_at = excluded.ended_at
$$;
