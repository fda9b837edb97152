-- Budgets begin anew, with what their periods cost
DELETE FROM model_reservations;
DELETE FROM model_budgets;
ALTER TABLE model_budgets ADD COLUMN spent_micros bigint NOT NULL DEFAULT 0;
ALTER TABLE model_budgets ADD COLUMN spent_tokens bigint NOT NULL DEFAULT 0;
