-- Unclaimed files of an organisation, the oldest first
CREATE INDEX import_sources_unclaimed ON import_sources (organization_id, expires_at)
    WHERE expires_at IS NOT NULL;
