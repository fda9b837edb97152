-- Passages of a file that came in parts were passed over but for the last of them: what is kept is built anew from the rows
UPDATE vector_partitions SET sequence = NULL, touched_at = 0;

-- Number of the last commit that changed what filters find
ALTER TABLE vector_databases ADD COLUMN fields_sequence INTEGER NOT NULL DEFAULT 0;
