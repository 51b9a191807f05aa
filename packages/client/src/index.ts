// The typed client of the HTTP API, for programs: calls, live streams, waiting for the end of a deployment.

export { SlipwayClient } from './client.ts'
export type { ConnectionOptions as ClientOptions, Locks } from './connection.ts'
export * from './errors.ts'
export { ACTING_PERMISSIONS } from './generated/acting-permissions.ts'
export { LOGIN_ERRORS } from './generated/login-errors.ts'
export { formatSelector, parseSelector, SelectorSyntaxError } from './instance-selector.ts'
export type { LogFilter, LogPage } from './log-pages.ts'
export { type FollowOptions, isFinalState, type Outage } from './log-stream.ts'
export { isNothingToDeploy } from './nothing-to-deploy.ts'
export {
  type Credentials,
  createMemoryStore,
  type LoginCode,
  type ServiceAccount,
  type Session,
  type SessionStore,
} from './session.ts'
export type { Answer, CallOptions, Input, InputArguments, Item, ListOperation, OperationId, Schema } from './types.ts'
export { findChangedDigits, isAsWritten } from './written-values.ts'
