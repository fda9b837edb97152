-- Files of a state or a type in the order of their names
CREATE INDEX vector_files_by_state_and_name ON vector_files (organization_id, database_id, state, name, id);
CREATE INDEX vector_files_by_type_and_name ON vector_files (organization_id, database_id, media_type, name, id);
