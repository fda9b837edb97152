DROP TABLE model_reservations;
DROP TABLE model_budgets;
DROP TABLE model_sums;
DROP TABLE model_calls;
