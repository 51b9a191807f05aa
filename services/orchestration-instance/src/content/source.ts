import { WrongContent } from '@slipway/commands'
import { BridgeError, UnauthorizedError } from '../bridge/bridge-client.ts'

export type ContentSource = (id: string) => Promise<{ size: number; bytes: AsyncIterable<Uint8Array> }>

/** Whether another attempt may succeed: not after a refusal, wrong bytes or a disk error. */
export function isTransient(error: unknown): boolean {
  if (error instanceof BridgeError) return error.status >= 500
  return !(error instanceof WrongContent) && diskProblem(error) === null
}

export function fetchProblem(error: unknown): string {
  if (error instanceof BridgeError || error instanceof WrongContent) return error.message
  if (error instanceof UnauthorizedError) return 'the bridge refuses the credential of this instance'
  return diskProblem(error) ?? 'the bridge cannot be reached or closed the connection'
}

function diskProblem(error: unknown): string | null {
  const { code, syscall } = (error ?? {}) as { code?: string; syscall?: string }
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk of the instance is full'
  const isOfFiles = syscall !== undefined && /^(open|write|rename|unlink|rm|stat|mkdir)$/.test(syscall)
  return isOfFiles ? `the disk of the instance failed (${code})` : null
}
