DROP TABLE callable_processes;
DROP INDEX runs_by_parent;
ALTER TABLE runs DROP COLUMN parent_run_id;
