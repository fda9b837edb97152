-- Keys of signals and of thrown messages begin with a character that no caller's key begins with
UPDATE case_events SET idempotency_key = chr(31) || idempotency_key
    WHERE event_type LIKE 'signal:%' AND idempotency_key LIKE 'signal:%';
UPDATE case_events SET idempotency_key = chr(31) || 'thrown-signal:' || substr(idempotency_key, 8)
    WHERE event_type LIKE 'signal:%' AND idempotency_key LIKE 'thrown:%' AND received_by IS NULL;
UPDATE case_events SET idempotency_key = chr(31) || idempotency_key
    WHERE idempotency_key LIKE 'thrown:%' AND received_by IS NULL;
