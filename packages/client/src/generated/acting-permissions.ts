// Made by packages/client/scripts/generate.mjs from the OpenAPI document: `make client`.
export const ACTING_PERMISSIONS = [
  'deployments:create',
  'deployments:cancel',
  'deployments:approve',
  'freezes:create',
  'freezes:update',
  'freezes:delete',
  'targets:create',
  'targets:update',
  'targets:delete',
] as const
