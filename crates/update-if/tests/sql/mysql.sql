-- simple
UPDATE `volumes` SET `status` = ?, `updated_at` = UTC_TIMESTAMP(6) WHERE `volumes`.`id` = ? AND `volumes`.`deleted` = ? AND `volumes`.`status` = ? AND `volumes`.`host` IS NULL
-- 'deleting', 'v1', false, 'available'

-- any of
UPDATE `volumes` SET `updated_at` = UTC_TIMESTAMP(6) WHERE `volumes`.`id` = ? AND `volumes`.`deleted` = ? AND `volumes`.`status` IN (?, ?) AND (`volumes`.`host` IN (?, ?) OR `volumes`.`host` IS NULL) AND 1 = 0
-- 'v1', false, 'a', 'b', 'c', 'd'

-- none of
UPDATE `volumes` SET `updated_at` = UTC_TIMESTAMP(6) WHERE `volumes`.`id` = ? AND `volumes`.`deleted` = ? AND (`volumes`.`status` <> ? OR `volumes`.`status` IS NULL) AND `volumes`.`status` <> ? AND (`volumes`.`host` NOT IN (?, ?) OR `volumes`.`host` IS NULL) AND (`volumes`.`host` IS NOT NULL AND `volumes`.`host` NOT IN (?, ?)) AND `volumes`.`host` IS NOT NULL
-- 'v1', false, 'a', 'a', 'b', 'c', 'd', 'e'

-- none of, as in Cinder
UPDATE `volumes` SET `updated_at` = UTC_TIMESTAMP(6) WHERE `volumes`.`id` = ? AND `volumes`.`deleted` = ? AND (`volumes`.`host` NOT IN (?, ?) OR `volumes`.`host` IS NULL)
-- 'v1', false, 'd', 'e'

-- columns and a case
UPDATE `volumes` SET `previous_status` = `volumes`.`status`, `size` = ((`volumes`.`size` * ?) + ?), `updated_at` = `volumes`.`updated_at`, `status` = CASE WHEN `volumes`.`status` = ? THEN ? ELSE `volumes`.`status` END WHERE `volumes`.`id` = ? AND `volumes`.`deleted` = ?
-- 2, 1, 'a', 'b', 'v1', false

-- swap
UPDATE `volumes` SET `updated_at` = UTC_TIMESTAMP(6), `previous_status` = IF((@update_if_text_0 := `volumes`.`previous_status`) <=> `volumes`.`previous_status`, `volumes`.`host`, `volumes`.`host`), `host` = @update_if_text_0 WHERE `volumes`.`id` = ? AND `volumes`.`deleted` = ?
-- 'v1', false

-- order
UPDATE `volumes` SET `status` = IF((@update_if_text_0 := `volumes`.`status`) <=> `volumes`.`status`, ?, ?), `previous_status` = @update_if_text_0, `updated_at` = UTC_TIMESTAMP(6) WHERE `volumes`.`id` = ? AND `volumes`.`deleted` = ?
-- 'retyping', 'retyping', 'v1', false

-- exists
UPDATE `volumes` SET `updated_at` = UTC_TIMESTAMP(6) WHERE `volumes`.`id` = ? AND `volumes`.`deleted` = ? AND NOT (EXISTS (SELECT 1 FROM `snapshots` WHERE `snapshots`.`volume_id` = `volumes`.`id` AND (`snapshots`.`status` <> ? OR `snapshots`.`status` IS NULL)))
-- 'v1', false, 'deleted'

-- same table
UPDATE `volumes` SET `updated_at` = UTC_TIMESTAMP(6) WHERE `volumes`.`id` = ? AND `volumes`.`deleted` = ? AND NOT (EXISTS (SELECT 1 FROM (SELECT * FROM `volumes` AS `other` WHERE `other`.`status` = ? LIMIT 18446744073709551615) AS `other` WHERE `other`.`host` = `volumes`.`host`))
-- 'v1', false, 'creating'

-- another table's columns
UPDATE `snapshots` SET `status` = ? WHERE `snapshots`.`id` = ? AND EXISTS (SELECT 1 FROM `volumes` WHERE `volumes`.`id` = ? AND (`volumes`.`size` >= ? OR `volumes`.`status` = `snapshots`.`status`))
-- 'restoring', '11111111-2222-3333-4444-555555555555', 'v1', 3

-- fence
UPDATE `volumes` SET `status` = ?, `fence` = ?, `updated_at` = UTC_TIMESTAMP(6) WHERE `volumes`.`id` = ? AND `volumes`.`deleted` = ? AND (`volumes`.`fence` IS NULL OR `volumes`.`fence` <= ?)
-- 'mine', 7, 'v1', false, 7

-- logic
UPDATE `volumes` SET `updated_at` = UTC_TIMESTAMP(6) WHERE `volumes`.`deleted` = ? AND NOT (((`volumes`.`status` IS NOT NULL AND `volumes`.`status` = ?) AND (`volumes`.`size` < ? OR `volumes`.`size` > ?)))
-- false, 'a', 1, 9

-- nothing at all
UPDATE `plain` SET `id` = `plain`.`id` WHERE 1 = 1
-- 

-- by name
UPDATE `plain` SET `value` = ? WHERE `plain`.`id` = ? AND `plain`.`value` <> ?
-- 'x', 1, 'y'

