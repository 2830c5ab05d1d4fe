-- simple
UPDATE "volumes" SET "status" = $1, "updated_at" = clock_timestamp() WHERE "volumes"."id" = $2 AND "volumes"."deleted" = $3 AND "volumes"."status" = $4 AND "volumes"."host" IS NULL
-- 'deleting', 'v1', false, 'available'

-- any of
UPDATE "volumes" SET "updated_at" = clock_timestamp() WHERE "volumes"."id" = $1 AND "volumes"."deleted" = $2 AND "volumes"."status" IN ($3, $4) AND ("volumes"."host" IN ($5, $6) OR "volumes"."host" IS NULL) AND 1 = 0
-- 'v1', false, 'a', 'b', 'c', 'd'

-- none of
UPDATE "volumes" SET "updated_at" = clock_timestamp() WHERE "volumes"."id" = $1 AND "volumes"."deleted" = $2 AND ("volumes"."status" <> $3 OR "volumes"."status" IS NULL) AND "volumes"."status" <> $4 AND ("volumes"."host" NOT IN ($5, $6) OR "volumes"."host" IS NULL) AND ("volumes"."host" IS NOT NULL AND "volumes"."host" NOT IN ($7, $8)) AND "volumes"."host" IS NOT NULL
-- 'v1', false, 'a', 'a', 'b', 'c', 'd', 'e'

-- none of, as in Cinder
UPDATE "volumes" SET "updated_at" = clock_timestamp() WHERE "volumes"."id" = $1 AND "volumes"."deleted" = $2 AND ("volumes"."host" NOT IN ($3, $4) OR "volumes"."host" IS NULL)
-- 'v1', false, 'd', 'e'

-- columns and a case
UPDATE "volumes" SET "previous_status" = "volumes"."status", "size" = (("volumes"."size" * $1) + $2), "updated_at" = "volumes"."updated_at", "status" = CASE WHEN "volumes"."status" = $3 THEN $4 ELSE "volumes"."status" END WHERE "volumes"."id" = $5 AND "volumes"."deleted" = $6
-- 2, 1, 'a', 'b', 'v1', false

-- swap
UPDATE "volumes" SET "previous_status" = "volumes"."host", "host" = "volumes"."previous_status", "updated_at" = clock_timestamp() WHERE "volumes"."id" = $1 AND "volumes"."deleted" = $2
-- 'v1', false

-- order
UPDATE "volumes" SET "status" = $1, "previous_status" = "volumes"."status", "updated_at" = clock_timestamp() WHERE "volumes"."id" = $2 AND "volumes"."deleted" = $3
-- 'retyping', 'v1', false

-- exists
UPDATE "volumes" SET "updated_at" = clock_timestamp() WHERE "volumes"."id" = $1 AND "volumes"."deleted" = $2 AND NOT (EXISTS (SELECT 1 FROM "snapshots" WHERE "snapshots"."volume_id" = "volumes"."id" AND ("snapshots"."status" <> $3 OR "snapshots"."status" IS NULL)))
-- 'v1', false, 'deleted'

-- same table
UPDATE "volumes" SET "updated_at" = clock_timestamp() WHERE "volumes"."id" = $1 AND "volumes"."deleted" = $2 AND NOT (EXISTS (SELECT 1 FROM (SELECT * FROM "volumes" AS "other" WHERE "other"."status" = $3) AS "other" WHERE "other"."host" = "volumes"."host"))
-- 'v1', false, 'creating'

-- another table's columns
UPDATE "snapshots" SET "status" = $1 WHERE "snapshots"."id" = CAST($2 AS uuid) AND EXISTS (SELECT 1 FROM "volumes" WHERE "volumes"."id" = $3 AND ("volumes"."size" >= $4 OR "volumes"."status" = "snapshots"."status"))
-- 'restoring', '11111111-2222-3333-4444-555555555555', 'v1', 3

-- fence
UPDATE "volumes" SET "status" = $1, "fence" = $2, "updated_at" = clock_timestamp() WHERE "volumes"."id" = $3 AND "volumes"."deleted" = $4 AND ("volumes"."fence" IS NULL OR "volumes"."fence" <= $5)
-- 'mine', 7, 'v1', false, 7

-- logic
UPDATE "volumes" SET "updated_at" = clock_timestamp() WHERE "volumes"."deleted" = $1 AND NOT ((("volumes"."status" IS NOT NULL AND "volumes"."status" = $2) AND ("volumes"."size" < $3 OR "volumes"."size" > $4)))
-- false, 'a', 1, 9

-- nothing at all
UPDATE "plain" SET "id" = "plain"."id" WHERE 1 = 1
-- 

-- by name
UPDATE "plain" SET "value" = $1 WHERE "plain"."id" = $2 AND "plain"."value" <> $3
-- 'x', 1, 'y'

