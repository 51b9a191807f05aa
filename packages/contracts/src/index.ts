export * from './agent/protocol.ts'
export * from './api/administration.ts'
export * from './api/audit.ts'
export * from './api/auth.ts'
export * from './api/catalog.ts'
export * from './api/common.ts'
export * from './api/content.ts'
export * from './api/deployments.ts'
export { openApiDocument } from './api/openapi/document.ts'
export { EXAMPLES } from './api/openapi/examples.ts'
export { errorCodesOf } from './api/openapi/refusals.ts'
export * from './api/operations.ts'
export * from './api/permissions.ts'
export * from './api/webhooks.ts'
export * from './instance/protocol.ts'
export * from './messages/commands.ts'
export * from './messages/envelope.ts'
export * from './messages/events.ts'
export {
  Caller,
  NamedRecord,
  Plan as PlanSchema,
  PlanOptions as PlanOptionsSchema,
  Selection as SelectionSchema,
} from './messages/plan.ts'
export * from './schema.ts'
export * from './streams.ts'
export * from './validation.ts'
