import { type ApiError, FrozenError, NotFoundError, TokenExchangeError, ValidationError } from '@slipway/client'
import { sanitize } from './controls.ts'
import { formatNames } from './name-list.ts'
import { formatTime } from './table.ts'

const MAX_TARGETS_SHOWN = 4

/** Returns the message of a refusal and, if the server names them, every wrong field. `targetNames` are names by ids. */
export function formatRefusal(error: ApiError, targetNames: ReadonlyMap<string, string> = new Map()): string {
  const id = error.requestId ? ` [request ${error.requestId}]` : ''
  return [`${error.message} (${error.code})${id}`, ...listReasons(error, targetNames)].map(sanitize).join('\n')
}

function listReasons(error: ApiError, targetNames: ReadonlyMap<string, string>): string[] {
  if (error instanceof ValidationError) {
    // The server writes a single problem into the message.
    const isSaid = error.problems.length === 1 && error.problems.every(({ message }) => error.message.endsWith(message))
    const problems = isSaid ? [] : error.problems.map(({ path, message }) => `  ${path} ${message}`)
    return [...problems, ...error.warnings.map((warning) => `  ${warning}`)]
  }
  if (error instanceof TokenExchangeError) {
    return [
      '  an ID token works once, and a trust of SLIPWAY_SERVICE_ACCOUNT must fit its issuer, audience and claims',
      '  an administrator finds the reason with: slipway audit --action auth.token_exchange',
    ]
  }
  if (error instanceof NotFoundError) return error.missing.map(({ path, id }) => `  ${path} ${id}`)
  if (error instanceof FrozenError) {
    const how = error.canOverride ? ['  to deploy in spite of the freeze: --override-freeze REASON'] : []
    const lines = error.freezes.map(({ name, ends_at, target_ids: ids }) => {
      const names = ids?.map((one) => targetNames.get(one) ?? one)
      const through = names === undefined ? '' : `, by targets ${formatNames(names, names.length, MAX_TARGETS_SHOWN)}`
      return `  ${name}, until ${formatTime(ends_at)}${through}`
    })
    return [...lines, ...how]
  }
  return []
}

/** Returns the ids of the targets that `formatRefusal` shows. */
export const listShownTargets = ({ freezes }: FrozenError): string[] => [
  ...new Set(freezes.flatMap(({ target_ids = [] }) => target_ids.slice(0, MAX_TARGETS_SHOWN))),
]
