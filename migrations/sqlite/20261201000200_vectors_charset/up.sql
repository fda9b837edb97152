-- Charset that the upload of a file declared
ALTER TABLE vector_files ADD COLUMN charset TEXT;
