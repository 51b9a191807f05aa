import type { Logger } from '@slipway/runtime'
import { LRUCache } from 'lru-cache'
import type { IssuerRules } from '../../dependencies.ts'
import { IssuerUnavailable, type KeySet, readKeySet } from './key-set.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

const FRESH_MS = HOUR
/** How long keys are used while their issuer is away. */
const USABLE_MS = 24 * HOUR
/** The shortest time between two reads of an issuer whose keys are known. */
const RENEW_MS = 60 * SECOND
/** The same without keys: then no token of the issuer can be exchanged. */
const RETRY_MS = 5 * SECOND

const MAX_ISSUERS = 1_000
const MAX_BYTES = 32 * 1024 * 1024

/** The key sets of issuers. Concurrent callers share one read. */
export interface IssuerKeys {
  /** @throws IssuerUnavailable */
  keysOf(issuer: string): Promise<KeySet>
  /** Keys that are newer than these, for a key that these lack; null: there are none, or the issuer was read a moment ago. */
  newerKeysOf(issuer: string, known: KeySet): Promise<KeySet | null>
  /** Without a read. */
  cachedKeysOf(issuer: string): KeySet | null
}

interface Entry {
  keys: KeySet | null
  /** When `keys` were read. */
  readAt: number
  /** When the last read began. */
  triedAt: number
  failure: IssuerUnavailable | null
}

export interface IssuerKeysOptions extends IssuerRules {
  logger: Logger
  /** In milliseconds; by default the clock of the system. */
  now?: (() => number) | undefined
}

export function createIssuerKeys({ logger, now = Date.now, ...rules }: IssuerKeysOptions): IssuerKeys {
  const entries = new LRUCache<string, Entry>({
    max: MAX_ISSUERS,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ keys }) => Math.max(1, keys?.bytes ?? 0),
  })
  const reads = new Map<string, Promise<Entry>>()

  async function read(issuer: string): Promise<Entry> {
    const triedAt = now()
    const before = entries.get(issuer)
    const entry = await readKeySet(issuer, rules).then(
      (keys): Entry => ({ keys, readAt: triedAt, triedAt, failure: null }),
      (error): Entry => {
        if (!(error instanceof IssuerUnavailable)) throw error
        logger.warn('the keys of an issuer of tokens could not be read', { issuer, error })
        return { keys: before?.keys ?? null, readAt: before?.readAt ?? triedAt, triedAt, failure: error }
      },
    )
    entries.set(issuer, entry)
    return entry
  }

  function sharedRead(issuer: string): Promise<Entry> {
    const running = reads.get(issuer)
    if (running !== undefined) return running
    const started = read(issuer).finally(() => reads.delete(issuer))
    reads.set(issuer, started)
    return started
  }

  const usable = ({ keys, readAt }: Entry) => (keys !== null && now() - readAt < USABLE_MS ? keys : null)

  /** Whether a further read could find something else. */
  const mayRead = (entry: Entry) => now() - entry.triedAt >= (usable(entry) === null ? RETRY_MS : RENEW_MS)

  return {
    async keysOf(issuer) {
      const known = entries.get(issuer)
      if (known !== undefined && now() - known.readAt < FRESH_MS && known.keys !== null) return known.keys
      const entry = known === undefined || mayRead(known) ? await sharedRead(issuer) : known
      const keys = usable(entry)
      if (keys !== null) return keys
      throw entry.failure ?? new IssuerUnavailable('the issuer has not answered for a day')
    },
    async newerKeysOf(issuer, known) {
      const entry = entries.get(issuer)
      if (entry?.keys !== known) return entry?.keys ?? null
      if (!mayRead(entry)) return null
      const { keys } = await sharedRead(issuer)
      return keys === known ? null : keys
    },
    cachedKeysOf: (issuer) => entries.peek(issuer)?.keys ?? null,
  }
}
