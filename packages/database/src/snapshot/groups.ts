/** SQL: each tenant and environment among the targets of a command now, once. */
export const placesOf = (command: string) =>
  `(SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('tenant_id', t.tenant_id, 'environment_id', t.environment_id)), '[]')
      FROM targets t WHERE t.id IN (SELECT (target ->> 'id')::uuid FROM jsonb_array_elements(${command} #> '{plan,targets}') AS target))`

/** SQL: the key of the group of a request: requests of one group have the same freezes, limits and pools. */
export const groupKey = (subject: string, selector: string) =>
  `md5(${subject}::text || coalesce(${selector}::text, ''))::uuid`
