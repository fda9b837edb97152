-- Passages of a file that came in parts were passed over but for the last of them: what is kept is built anew from the rows
UPDATE vector_partitions SET sequence = NULL, touched_at = touched_at - interval '1 hour';

-- Number of the last commit that changed what filters find
ALTER TABLE vector_databases ADD COLUMN fields_sequence bigint NOT NULL DEFAULT 0;
