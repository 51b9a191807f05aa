import { WrongContent } from '@slipway/execution'
import { BridgeError, UnauthorizedError } from '../bridge/bridge-client.ts'

/** Where content comes from. The size is known before the bytes come. */
export type ContentSource = (id: string) => Promise<{ size: number; bytes: AsyncIterable<Uint8Array> }>

/** Whether another attempt may succeed: not after a refusal, wrong bytes, or an error of the disk. */
export function isPassing(error: unknown): boolean {
  if (error instanceof BridgeError) return error.status >= 500
  return !(error instanceof WrongContent) && diskProblem(error) === null
}

/** Why content could not be fetched, for users. */
export function fetchProblem(error: unknown): string {
  if (error instanceof BridgeError || error instanceof WrongContent) return error.message
  if (error instanceof UnauthorizedError) return 'the bridge does not know this instance'
  return diskProblem(error) ?? 'the bridge cannot be reached, or broke off'
}

function diskProblem(error: unknown): string | null {
  const { code, syscall } = (error ?? {}) as { code?: string; syscall?: string }
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'there is no room for it on the disk of the instance'
  const isOfFiles = syscall !== undefined && /^(open|write|rename|unlink|rm|stat|mkdir)$/.test(syscall)
  return isOfFiles ? `the disk of the instance does not take it (${code})` : null
}
