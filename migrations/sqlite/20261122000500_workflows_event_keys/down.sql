UPDATE case_events SET idempotency_key = 'thrown:' || substr(idempotency_key, 16)
    WHERE idempotency_key LIKE char(31) || 'thrown-signal:%';
UPDATE case_events SET idempotency_key = substr(idempotency_key, 2)
    WHERE idempotency_key LIKE char(31) || '%';
