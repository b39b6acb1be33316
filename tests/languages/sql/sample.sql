-- Orders and their lines.
SET search_path TO shop;

CREATE SCHEMA IF NOT EXISTS shop;

CREATE TABLE orders (
    id         bigint PRIMARY KEY,
    customer   text NOT NULL,
    state      text DEFAULT 'open',
    created_at timestamp DEFAULT now()
);

CREATE TABLE IF NOT EXISTS shop.lines (
    order_id bigint REFERENCES orders (id),
    name     varchar(40) NOT NULL,
    price    numeric(10, 2)
);

CREATE UNIQUE INDEX lines_by_name ON shop.lines (order_id, name);

/* What is still to be paid. */
CREATE OR REPLACE VIEW open_orders AS
SELECT o.id, sum(l.price) AS total
FROM orders AS o
    JOIN shop.lines AS l ON l.order_id = o.id
WHERE o.state = 'open' AND l.price > 0
GROUP BY o.id;

CREATE MATERIALIZED VIEW totals AS SELECT count(*) FROM orders;

CREATE TYPE mood AS ENUM ('sad', 'happy');

CREATE SEQUENCE order_numbers START WITH 10;

CREATE OR REPLACE FUNCTION add_tax(price numeric, rate int DEFAULT 19)
RETURNS numeric AS $$
    SELECT price * (1 + rate / 100.0)
$$ LANGUAGE sql;

CREATE FUNCTION add_tax(price text)
RETURNS numeric AS $$
BEGIN
    RETURN add_tax(price::numeric);
END;
$$ LANGUAGE plpgsql;

CREATE TRIGGER touch BEFORE UPDATE ON orders
FOR EACH ROW EXECUTE FUNCTION touch_row();

ALTER TABLE orders ADD COLUMN note text;

INSERT INTO orders (id, customer) VALUES (1, 'Ada'), (2, 'it''s');

UPDATE orders SET state = 'paid' WHERE id = 1;

DELETE FROM shop.lines WHERE price IS NULL;

WITH late AS (
    SELECT id FROM orders WHERE created_at < now()
)
SELECT * FROM late ORDER BY id LIMIT 10;

DROP VIEW totals;
