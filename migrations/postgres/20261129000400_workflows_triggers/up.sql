-- PostgreSQL compares with a list without a table.
SELECT 1;
