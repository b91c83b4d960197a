-- Lists of which a user sees few rows, or of which a tenant has few, are read along an index of what is theirs, a page.
-- Whose a schedule, a limit and a cause of failures is, noted with the row. Who sees all of a tenant goes along the index of the tenant.
-- NULL in rows from before, and in schedules until the functions are installed: then `recount` fills them.
ALTER TABLE weft.schedule ADD COLUMN project_id int;  -- that of the name
ALTER TABLE weft.spend_limit ADD COLUMN owner_id int,  -- the user, or whose the batch is; NULL: it is a project's
    ADD COLUMN shared_project_id int;  -- the project, or that of the batch; NULL: it is a user's
ALTER TABLE weft.failure_cause ADD COLUMN owner_id int, ADD COLUMN project_id int;  -- of the batch

CREATE FUNCTION weft._note_limited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.owner_id := NEW.user_id;
    NEW.shared_project_id := NEW.project_id;
    IF NEW.batch_id IS NOT NULL THEN
        SELECT b.user_id, b.project_id INTO NEW.owner_id, NEW.shared_project_id FROM weft.batch b WHERE b.batch_id = NEW.batch_id;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER limit_begins BEFORE INSERT ON weft.spend_limit FOR EACH ROW EXECUTE FUNCTION weft._note_limited();
CREATE TRIGGER cause_begins BEFORE INSERT ON weft.failure_cause FOR EACH ROW EXECUTE FUNCTION weft._note_owner();

CREATE INDEX schedule_user_idx ON weft.schedule (user_id, schedule_id);
CREATE INDEX schedule_project_idx ON weft.schedule (project_id, schedule_id);
DROP INDEX weft.schedule_user_id_idx;
-- A limit that was taken away stays as a row.
CREATE INDEX spend_limit_page_idx ON weft.spend_limit (tenant_id, limit_id)
    WHERE amount_max IS NOT NULL OR amount_soft_max IS NOT NULL OR stage <> 'below';
CREATE INDEX spend_limit_owner_idx ON weft.spend_limit (owner_id, limit_id)
    WHERE amount_max IS NOT NULL OR amount_soft_max IS NOT NULL OR stage <> 'below';
CREATE INDEX spend_limit_shared_idx ON weft.spend_limit (shared_project_id, limit_id)
    WHERE amount_max IS NOT NULL OR amount_soft_max IS NOT NULL OR stage <> 'below';
CREATE INDEX spend_limit_of_batch_idx ON weft.spend_limit (batch_id, limit_id)
    WHERE batch_id IS NOT NULL AND (amount_max IS NOT NULL OR amount_soft_max IS NOT NULL OR stage <> 'below');
-- Causes are written by folds, once for each batch however many of its jobs fail.
CREATE INDEX failure_cause_owner_idx ON weft.failure_cause (owner_id, batch_id) WHERE n_jobs > n_acknowledged;
CREATE INDEX failure_cause_project_idx ON weft.failure_cause (project_id, batch_id) WHERE n_jobs > n_acknowledged;
CREATE INDEX failure_cause_cause_idx ON weft.failure_cause (cause_id, tenant_id, batch_id);
CREATE INDEX failure_cause_reason_idx ON weft.failure_cause (reason, tenant_id, batch_id) WHERE reason IS NOT NULL;
-- Few are acknowledged.
CREATE INDEX failure_cause_seen_idx ON weft.failure_cause (tenant_id, batch_id) WHERE n_acknowledged > 0;
CREATE INDEX failure_cause_owner_seen_idx ON weft.failure_cause (owner_id, batch_id) WHERE n_acknowledged > 0;
CREATE INDEX failure_cause_project_seen_idx ON weft.failure_cause (project_id, batch_id) WHERE n_acknowledged > 0;
DROP INDEX weft.failure_cause_tenant_id_idx;

-- A condition that is over loses those of the oldest batches first.
CREATE INDEX condition_batch_oldest_idx ON weft.condition_batch (condition_id, batch_id);
DROP INDEX weft.condition_batch_condition_idx;

CREATE INDEX tenant_user_page_idx ON weft.tenant_user (tenant_id, user_id) WHERE removed_at IS NULL;
CREATE INDEX billing_project_page_idx ON weft.billing_project (tenant_id, name) WHERE deleted_at IS NULL;
CREATE INDEX trail_entry_action_idx ON weft.trail_entry (tenant_id, action, number);
CREATE INDEX pool_serves_idx ON weft.pool (serves_tenant_id, name);
CREATE INDEX worker_sum_pool_idx ON weft.worker_sum (pool_id);
CREATE INDEX worker_of_pool_idx ON weft.worker (pool_id, name) WHERE deleted_at IS NULL;
CREATE INDEX worker_of_pool_aside_idx ON weft.worker (pool_id, name) WHERE cordon_reason IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX machine_page_idx ON weft.machine (pool_id, machine_id) WHERE state <> 'deleted';
DROP INDEX weft.machine_pool_id_idx;
CREATE INDEX user_share_tenant_idx ON weft.user_share (pool_id, tenant_id, load, user_id) WHERE active;
CREATE INDEX user_share_tenant_running_idx ON weft.user_share (pool_id, tenant_id, user_id) WHERE NOT active AND running_m > 0;
