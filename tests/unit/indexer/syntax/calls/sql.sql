CREATE TABLE shop.items (
  id int PRIMARY KEY,
  order_id int REFERENCES orders(id)
);

CREATE FUNCTION total(a int) RETURNS int AS $$
  SELECT discount(sum(price)) FROM orders o JOIN shop.items i ON o.id = i.order_id
$$ LANGUAGE sql;

CREATE VIEW open_orders AS SELECT total(id) FROM orders WHERE is_open(state);

CREATE INDEX by_order ON shop.items (order_id);
INSERT INTO orders VALUES (1);
UPDATE shop.items SET order_id = 1;
DELETE FROM orders WHERE id = 1;
