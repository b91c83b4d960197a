-- deadlocks: how many transactions of this database were ended because of a deadlock.
SELECT d.deadlocks FROM pg_stat_database d WHERE d.datname = current_database()
