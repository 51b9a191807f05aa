-- A request carries whether its caller may override freezes, not the roles of the caller.
CREATE OR REPLACE FUNCTION "freeze_subject_of"("of_tenant" uuid, "of_environment" uuid, "command" jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object(
    'tenant_id', of_tenant,
    'environment_id', of_environment,
    'solution_id', CASE WHEN command #>> '{plan,source,type}' = 'solution' THEN command #> '{plan,source,id}' END,
    'caller', jsonb_build_object('may_override_freezes', coalesce(command #> '{caller,may_override_freezes}', 'false'),
                                 'tenant_id', command #> '{caller,tenant_id}'),
    'override', coalesce(command -> 'freeze_override', 'null') <> 'null',
    'targets', (SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('tenant_id', t.tenant_id, 'environment_id', t.environment_id)), '[]')
                  FROM targets t
                 WHERE t.id IN (SELECT (target ->> 'id')::uuid
                                  FROM jsonb_array_elements(CASE jsonb_typeof(command #> '{plan,targets}')
                                                              WHEN 'array' THEN command #> '{plan,targets}' END) AS target)))
$$;
