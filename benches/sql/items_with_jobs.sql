-- items_with_jobs: how many items of sources have become jobs.
SELECT count(*) FROM weft.source_item WHERE state = 'job'
