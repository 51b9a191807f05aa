import { AsyncLocalStorage } from 'node:async_hooks'

/** The ids of the current work. Every log line has them. */
export interface Context {
  request_id?: string | null
  message_id?: string
  deployment_id?: string
  [field: string]: unknown
}

const storage = new AsyncLocalStorage<Context>()

/** Runs `fn` with these fields added to the context that is current, for all it awaits. */
export function withContext<T>(fields: Context, fn: () => T): T {
  return storage.run({ ...storage.getStore(), ...fields }, fn)
}

/** The current context; empty outside of any. */
export function currentContext(): Context {
  return storage.getStore() ?? {}
}

/** Runs `fn` without a context, for work that does not belong to the current request. */
export function withoutContext<T>(fn: () => T): T {
  return storage.run({}, fn)
}
