DROP INDEX import_sources_unclaimed;
