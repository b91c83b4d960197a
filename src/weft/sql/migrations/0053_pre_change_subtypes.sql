-- Queries read why a job that never ran has ended: late, or without its machine.
GRANT SELECT (change_id, subtype) ON weft.job_change TO weft_api, weft_driver;
