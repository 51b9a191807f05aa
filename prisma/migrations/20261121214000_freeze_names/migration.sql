-- A freeze's name is its own within its tenant, as every catalog record's: where one was given twice, the later one gets
-- a piece of its id.
UPDATE freezes f SET name = left(f.name, 240) || ' ' || right(f.id::text, 12)
  FROM (SELECT id, row_number() OVER (PARTITION BY tenant_id, name ORDER BY created_at, id) AS place FROM freezes) d
 WHERE d.id = f.id AND d.place > 1;

CREATE UNIQUE INDEX "freezes_tenant_id_name_key" ON "freezes"("tenant_id", "name") NULLS NOT DISTINCT;
