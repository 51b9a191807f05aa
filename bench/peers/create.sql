BEGIN;
INSERT INTO floor_deployments (id, state, source_type, source_id, source_name, source_version, plan_head, selection, total_steps, started_at)
  VALUES (gen_random_uuid(), 'running', 'action', gen_random_uuid(), 'bench', '1.0.0', '{"options": {"priority": 0}}', '{"target_ids": []}', 1, now());
INSERT INTO floor_audit (id, action, resource_type, details)
  VALUES (gen_random_uuid(), 'deployment.create', 'deployment', '{}');
INSERT INTO floor_outbox (message_id, exchange, type, body) VALUES (gen_random_uuid(), 'none', 'bench', '{}');
COMMIT;
