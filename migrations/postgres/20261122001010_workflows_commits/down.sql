DROP INDEX run_events_by_commit;
ALTER TABLE run_events DROP COLUMN commit_number;
DROP TABLE run_commits;
