ALTER TABLE vector_files DROP COLUMN charset;
