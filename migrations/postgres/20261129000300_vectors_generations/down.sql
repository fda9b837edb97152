DROP INDEX vector_builds_by_state;
CREATE INDEX vector_builds_by_state ON vector_builds (organization_id, database_id, state, generation);
ALTER TABLE vector_files DROP COLUMN options_methodology;
ALTER TABLE vector_databases DROP COLUMN next_passages;
ALTER TABLE vector_databases DROP COLUMN last_generation;
