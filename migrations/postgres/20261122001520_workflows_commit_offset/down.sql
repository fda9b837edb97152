ALTER TABLE run_events ALTER COLUMN commit_number SET DEFAULT (pg_current_xact_id()::text::bigint);
DROP FUNCTION run_commit_offset();
UPDATE run_commits SET number = 0;
