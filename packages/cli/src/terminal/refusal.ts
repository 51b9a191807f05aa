import { type ApiError, FrozenError, NotFoundError, TokenExchangeError, ValidationError } from '@slipway/client'
import { sanitize } from './controls.ts'
import { formatNames } from './name-list.ts'
import { formatTime, localizeTimes } from './table.ts'

const MAX_TARGETS_SHOWN = 4

/** How a command says what the API says. */
export interface Words {
  /** The place of a problem: an option, or a path in the body. */
  describePlace: (path: string) => string
  translate: (sentence: string) => string
}

export const formatPath = (path: string): string => path.split('/').slice(1).join('.')
const PLAIN: Words = { describePlace: formatPath, translate: (sentence) => sentence }

interface Extras {
  words?: Words
  /** The names of targets by their ids. */
  targetNames?: ReadonlyMap<string, string>
  /** Further lines, for example with suggestions. */
  hints?: readonly string[]
}

/** Returns what is wrong, with every wrong field that the server names, and what to do next. */
export function formatRefusal(error: ApiError, { words = PLAIN, targetNames = new Map(), hints = [] }: Extras = {}) {
  const id = error.requestId ? ` [request ${error.requestId}]` : ''
  const { head, lines } = describe(error, words, targetNames)
  return [`${localizeTimes(head)} (${error.code})${id}`, ...[...lines, ...hints].map((line) => `  ${line}`)]
    .map(sanitize)
    .join('\n')
}

interface Description {
  head: string
  lines: string[]
}

function describe(error: ApiError, words: Words, targetNames: ReadonlyMap<string, string>): Description {
  if (error instanceof ValidationError) return describeProblems(error, words)
  if (error instanceof FrozenError) return describeFreezes(error, targetNames)
  const head = words.translate(error.message)
  if (error instanceof TokenExchangeError) {
    const lines = [
      'an ID token works once, and a trust of SLIPWAY_SERVICE_ACCOUNT must fit its issuer, audience and claims',
      'an administrator finds the reason with: slipway audit --action auth.token_exchange',
    ]
    return { head, lines }
  }
  const missing = error instanceof NotFoundError ? error.missing : []
  return { head, lines: missing.map(({ path, id }) => `${words.describePlace(path)}: ${id}`) }
}

function describeProblems({ message, problems, warnings, more }: ValidationError, words: Words): Description {
  const said = problems.map(({ path, message: sentence }) => {
    const place = words.describePlace(path)
    return `${place === '' ? '' : `${place}: `}${words.translate(sentence)}`
  })
  const [only, another] = said
  if (only !== undefined && another === undefined && more === 0) return { head: only, lines: warnings }
  if (warnings.length > 0) {
    const next = 'correct them, or leave out --strict'
    return { head: 'these warnings refuse the request, because it is strict', lines: [...said, ...warnings, next] }
  }
  if (only === undefined) return { head: words.translate(message), lines: [] }
  return { head: 'the request is not valid', lines: [...said, ...(more > 0 ? [`and ${more} more`] : [])] }
}

function describeFreezes({ freezes, canOverride }: FrozenError, targetNames: ReadonlyMap<string, string>): Description {
  const lines = freezes.map(({ name, ends_at, target_ids: ids }) => {
    const names = ids?.map((one) => targetNames.get(one) ?? one)
    const through = names === undefined ? '' : `, by targets ${formatNames(names, names.length, MAX_TARGETS_SHOWN)}`
    return `${name}, until ${formatTime(ends_at)}${through}`
  })
  const next = canOverride
    ? 'to deploy in spite of the freeze: --override-freeze REASON'
    : 'wait for its end, or ask an administrator to override it'
  return {
    head: `deployments are frozen by ${formatNames(freezes.map(({ name }) => `"${name}"`))}`,
    lines: [...lines, next],
  }
}

/** Returns the ids of the targets that `formatRefusal` shows. */
export const listShownTargets = ({ freezes }: FrozenError): string[] => [
  ...new Set(freezes.flatMap(({ target_ids = [] }) => target_ids.slice(0, MAX_TARGETS_SHOWN))),
]
