import { exchangeNames, queueNames, RETRY_EXCHANGES } from '../topology.ts'

/**
 * What each service may do in RabbitMQ. This file is the only source: the definitions of users are made from it. What is not
 * listed here is refused. `configure` declares and deletes, `write` publishes and binds a queue, `read` consumes and binds
 * an exchange.
 */

/** One user for each. */
export const BROKER_USERS = ['gateway', 'planner', 'dispatcher', 'executor-bridge', 'log-stream'] as const
export type BrokerUser = (typeof BROKER_USERS)[number]

/** Declares the exchanges and queues that outlive their consumers. The other services check that they exist. */
export const TOPOLOGY_OWNER: BrokerUser = 'dispatcher'

/** Regular expressions that match whole names of exchanges and queues. */
export interface Permissions {
  configure: string
  write: string
  read: string
}

/**
 * The default exchange carries answers to callers, and messages back to their own queue. It leads to every queue by name, so a user
 * that may write to it can send a message to any queue.
 */
const DEFAULT_EXCHANGE = 'amq\\.default'

interface Rights {
  /** Names without the namespace. */
  write: readonly string[]
  read: readonly string[]
  /** Answers commands, or sends messages back to its own queue. */
  answers?: true
  /** Has queues for one reader's lifetime, see declareExclusiveQueue. */
  hasExclusiveQueues?: true
}

/** Moves a message that it cannot handle. */
const MOVES = [...RETRY_EXCHANGES, 'dead']
const EVERYTHING = [...new Set([...exchangeNames(), ...queueNames()])]

const RIGHTS: Record<BrokerUser, Rights> = {
  gateway: { write: ['commands', 'events'], read: [] },
  planner: { write: ['commands', ...MOVES], read: ['planner.commands'], answers: true },
  // To declare a queue with a dead letter exchange, and to bind it, needs both rights for queue and exchange.
  dispatcher: { write: EVERYTHING, read: EVERYTHING, answers: true },
  'executor-bridge': {
    write: ['events', ...MOVES],
    read: ['executor.commands'],
    answers: true,
    hasExclusiveQueues: true,
  },
  'log-stream': { write: [], read: [], hasExclusiveQueues: true },
}

/** `namespace` is a regular expression: what the names of exchanges and queues begin with. */
export function permissionsOf(user: BrokerUser, namespace: string): Permissions {
  const { write, read, answers, hasExclusiveQueues } = RIGHTS[user]
  const own = hasExclusiveQueues ? [`${namespace}\\.${user}\\.events\\.[0-9a-f]+(\\.dropped)?`] : []
  const among = (names: readonly string[]) =>
    names.length === 0 ? [] : [`${namespace}\\.(${names.map(literal).join('|')})`]
  return {
    configure: anyOf([...(user === TOPOLOGY_OWNER ? among(EVERYTHING) : []), ...own]),
    write: anyOf([
      ...among(hasExclusiveQueues ? [...write, 'dropped'] : write),
      ...own,
      ...(answers ? [DEFAULT_EXCHANGE] : []),
    ]),
    read: anyOf([...among(hasExclusiveQueues ? [...read, 'events', 'dropped'] : read), ...own]),
  }
}

const literal = (name: string) => name.replaceAll('.', '\\.')
/** `^$` matches nothing. */
const anyOf = (patterns: string[]) => (patterns.length === 0 ? '^$' : `^(${patterns.join('|')})$`)
