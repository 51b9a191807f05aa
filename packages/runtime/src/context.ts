import { AsyncLocalStorage } from 'node:async_hooks'

/** The ids of the current work, added to every log line. */
export interface Context {
  request_id?: string | null
  message_id?: string
  /** The type of the message that is being handled. */
  message_type?: string
  deployment_id?: string
  [field: string]: unknown
}

const storage = new AsyncLocalStorage<Context>()

/** Runs `fn` and everything it awaits with these fields added to the current context. */
export function withContext<T>(fields: Context, fn: () => T): T {
  return storage.run({ ...storage.getStore(), ...fields }, fn)
}

export function currentContext(): Context {
  return storage.getStore() ?? {}
}

/** Runs `fn` without a context, for work that does not belong to the current request. */
export function withoutContext<T>(fn: () => T): T {
  return storage.run({}, fn)
}
