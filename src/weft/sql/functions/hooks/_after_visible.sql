-- _after_visible: what follows when jobs of an update are visible and could start: limits of spending, holds and deadlines keep them back,
--   and those with a lifecycle get their first statuses.
-- Safe to repeat: no.   For: _make_visible, before it admits jobs at gates and announces.
-- Locks: as _pause_batch; hold_row (those of the batch); as _begin_deadlines; as _begin_statuses.   Plan: theirs.
-- Raises what _pause_batch raises.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._after_visible(of_update weft.batch_update, is_new_batch boolean, of_lifecycle_id int, at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._pause_batch(of_update.batch_id, of_update.update_id = 1);
    IF NOT is_new_batch THEN  -- the sweep parks the new jobs of held groups; they are not claimed meanwhile
        UPDATE weft.group_hold h SET swept = false, sweep_job = least(h.sweep_job, of_update.first_job - 1)
        WHERE h.batch_id = of_update.batch_id AND h.released_at IS NULL;
    END IF;
    PERFORM weft._begin_deadlines(of_update.batch_id, of_update.first_job, of_update.first_job + of_update.n_jobs - 1, _after_visible.at);
    IF of_lifecycle_id IS NOT NULL THEN
        PERFORM weft._begin_statuses(of_update, of_lifecycle_id, _after_visible.at);
    END IF;
END $$;
