-- _after_late_ends: what follows from reports of which some were not recorded, because their attempts had ended before.
-- Safe to repeat: yes.   Locks: as _note_late_ends.   Plan: as _note_late_ends.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_late_ends(of_incarnation_id int, batch_ids bigint[], job_ids int[], attempts smallint[],
    cpu_ms_list bigint[], memory_peaks bigint[], stdout_bytes_list bigint[], stderr_bytes_list bigint[], truncated_list boolean[],
    segments int[], offsets bigint[], at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._note_late_ends(of_incarnation_id, batch_ids, job_ids, attempts, cpu_ms_list, memory_peaks, stdout_bytes_list,
        stderr_bytes_list, truncated_list, segments, offsets, at);
END $$;
