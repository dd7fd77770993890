-- A basket.
SELECT name, total
FROM may_fruits
WHERE name = 'may'
  -- not the empty ones
  AND total > coalesce(may_least, 0)
ORDER BY total DESC, may_rank;

CREATE TABLE fruits (
    may_id integer PRIMARY KEY,
    name varchar(80) NOT NULL DEFAULT 'may'
);
