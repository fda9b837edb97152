-- PostgreSQL gathers its statistics by itself.
SELECT 1;
