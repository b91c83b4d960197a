-- No row outlives its batch, except the operation that removed it and the events that report it.
SELECT x.batch_id, x.kind FROM (
    SELECT DISTINCT t.batch_id, 'attempt' AS kind FROM weft.attempt t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'edge' AS kind FROM weft.edge t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'foreign_end' AS kind FROM weft.foreign_end t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'admission' AS kind FROM weft.admission t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_label' AS kind FROM weft.job_label t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_change' AS kind FROM weft.job_change t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_status' AS kind FROM weft.job_status t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_status_change' AS kind FROM weft.job_status_change t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_cancel' AS kind FROM weft.job_cancel t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'preemption' AS kind FROM weft.preemption t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'attempt_watch' AS kind FROM weft.attempt_watch t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'attempt_note' AS kind FROM weft.attempt_note t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'attempt_stop' AS kind FROM weft.attempt_stop t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_command' AS kind FROM weft.job_command t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'blocked_job' AS kind FROM weft.blocked_job t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'block_request' AS kind FROM weft.block_request t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'dead_letter' AS kind FROM weft.dead_letter t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'failure_cause' AS kind FROM weft.failure_cause t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'failure_delta' AS kind FROM weft.failure_delta t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'resubmitted_span' AS kind FROM weft.resubmitted_span t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'batch_grant' AS kind FROM weft.batch_grant t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'condition_batch' AS kind FROM weft.condition_batch t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'empty_batch' AS kind FROM weft.empty_batch t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'late_job' AS kind FROM weft.late_job t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_deadline' AS kind FROM weft.job_deadline t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'reservation' AS kind FROM weft.reservation t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'transport_offer' AS kind FROM weft.transport_offer t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'transport_cancel' AS kind FROM weft.transport_cancel t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_hold' AS kind FROM weft.job_hold t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'place' AS kind FROM weft.place t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'gate' AS kind FROM weft.gate t WHERE t.batch_id IS NOT NULL
    UNION ALL
    SELECT DISTINCT t.batch_id, 'gate_set' AS kind FROM weft.gate_set t WHERE t.batch_id IS NOT NULL
    UNION ALL
    SELECT DISTINCT t.batch_id, 'gate_member' AS kind FROM weft.gate_member t WHERE t.batch_id IS NOT NULL
    UNION ALL
    SELECT DISTINCT t.batch_id, 'held_ready' AS kind FROM weft.held_ready t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'cascade' AS kind FROM weft.cascade t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'parent_end' AS kind FROM weft.parent_end t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'ready_job' AS kind FROM weft.ready_job t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_array' AS kind FROM weft.job_array t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_spec' AS kind FROM weft.job_spec t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'batch_payload' AS kind FROM weft.batch_payload t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_file' AS kind FROM weft.job_file t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'output_term' AS kind FROM weft.output_term t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'attempt_staging' AS kind FROM weft.attempt_staging t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job' AS kind FROM weft.job t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'runnable' AS kind FROM weft.runnable t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'batch_update' AS kind FROM weft.batch_update t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'bunch_count' AS kind FROM weft.bunch_count t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'bunch' AS kind FROM weft.bunch t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'group_bunch' AS kind FROM weft.group_bunch t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'member_span' AS kind FROM weft.member_span t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'membership' AS kind FROM weft.membership t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'group_usage' AS kind FROM weft.group_usage t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'group_completion' AS kind FROM weft.group_completion t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'group_change' AS kind FROM weft.group_change t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'group_hold' AS kind FROM weft.group_hold t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'spend_limit' AS kind FROM weft.spend_limit t WHERE t.batch_id IS NOT NULL
    UNION ALL
    SELECT DISTINCT t.batch_id, 'failure_count' AS kind FROM weft.failure_count t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'group_count' AS kind FROM weft.group_count t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'group_ancestor' AS kind FROM weft.group_ancestor t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'job_group' AS kind FROM weft.job_group t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'callback_delivery' AS kind FROM weft.callback_delivery t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'subscription' AS kind FROM weft.subscription t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'batch_usage' AS kind FROM weft.batch_usage t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'batch_storage' AS kind FROM weft.batch_storage t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'user_batch_count' AS kind FROM weft.user_batch_count t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'service' AS kind FROM weft.service t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'skipped_batch' AS kind FROM weft.skipped_batch t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'app_use' AS kind FROM weft.app_use t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'claim' AS kind FROM weft.claim t
    UNION ALL
    SELECT DISTINCT t.batch_id, 'group_cancel' AS kind FROM weft.group_cancel t
    UNION ALL
    -- What is folded stays until the next fold.
    SELECT DISTINCT t.batch_id, 'job_delta' FROM weft.fold f JOIN weft.job_delta t ON t.xid >= pg_snapshot_xmin(f.upto)
        AND NOT pg_visible_in_snapshot(t.xid, f.upto)
    UNION ALL
    SELECT DISTINCT t.batch_id, 'operation' FROM weft.operation t WHERE t.kind <> 'delete_batch' AND t.batch_id IS NOT NULL
    UNION ALL
    SELECT DISTINCT t.batch_id, 'event' FROM weft.event t WHERE t.batch_id > 0 AND t.kind <> 'batch.deleted'
        AND t.kind NOT LIKE 'operation.%'
) x
WHERE NOT EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = x.batch_id)
