import { currentContext, failpoint } from '@slipway/runtime'
import type pg from 'pg'
import { insertMessages } from './outbox.sql.ts'

// The failpoints of commits and of the outbox (packages/runtime/src/failpoints.ts). The builds for production contain none of it.

/** What a transaction did: the paths of its commit, and the types of the messages that it removes from the outbox. */
interface Work {
  paths: Set<string>
  removed: Set<string>
}

type Sent = string | pg.QueryConfig
type Written = Promise<{ rowCount: number | null }>

const works = new WeakMap<object, Work>()

/** Notes a statement of a transaction. One without rows, such as a sweep that finds nothing, is no path. */
export function noteStatement(tx: object, statement: Sent, written: Written): void {
  if (globalThis.SLIPWAY_FAILPOINTS) {
    const work = workOf(tx)
    const note = ({ rowCount }: { rowCount: number | null }) => {
      if (rowCount !== null && rowCount > 0) for (const path of pathsOf(statement)) work.paths.add(path)
    }
    written.then(note, () => {})
  }
}

/** Notes that a transaction removes messages which were sent. */
export function noteRemoval(tx: object, messages: readonly { type: string }[]): void {
  if (globalThis.SLIPWAY_FAILPOINTS) {
    for (const { type } of messages) workOf(tx).removed.add(type)
  }
}

/** Called by whoever commits a transaction. */
export function failpointOfCommit(tx: object, when: 'before' | 'after'): void {
  if (globalThis.SLIPWAY_FAILPOINTS) {
    const { paths, removed } = workOf(tx)
    const { message_type } = currentContext()
    const all = message_type === undefined ? paths : [...paths, message_type]
    failpoint({ paths: all }, when === 'before' ? 'before-commit' : 'after-commit')
    failpoint({ paths: removed }, when === 'before' ? 'before-removal' : 'after-removal')
  }
}

/** Called for a statement that is a transaction of its own. */
export function failpointOfStatement(statement: Sent, when: 'before' | 'after'): void {
  if (globalThis.SLIPWAY_FAILPOINTS)
    failpoint({ paths: pathsOf(statement) }, when === 'before' ? 'before-commit' : 'after-commit')
}

function workOf(tx: object): Work {
  const known = works.get(tx)
  if (known) return known
  const made = { paths: new Set<string>(), removed: new Set<string>() }
  works.set(tx, made)
  return made
}

const TYPES = Object.keys(insertMessages.parameters).indexOf('messages.type')

/** The name of a statement without its first part, and the types of the messages that it inserts into the outbox. */
function pathsOf(statement: Sent): string[] {
  const { text, values = [] } = typeof statement === 'string' ? { text: statement } : statement
  const name = /^\/\* [^.\s]+\.(\S+) \*\//.exec(text)?.[1]
  const types = text === insertMessages.text ? values[TYPES] : []
  return [...(name === undefined ? [] : [name]), ...(Array.isArray(types) ? types.map(String) : [])]
}
