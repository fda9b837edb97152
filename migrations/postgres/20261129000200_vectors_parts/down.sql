ALTER TABLE vector_databases DROP COLUMN fields_sequence;
