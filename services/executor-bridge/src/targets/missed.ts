import type { Queryable } from '@slipway/database'
import { storableText } from '../storable.ts'
import { noteMissed as noteMissedStatement } from './probes.sql.ts'

const MAX_LENGTH = 500
const CONTROL_CHARACTERS = /\p{Cc}+/gu

/** Stores why targets were not reached, by their ids. The text comes from an instance, so it is bounded and made plain. */
export async function noteMissed(tx: Queryable, errors: ReadonlyMap<string, string>): Promise<void> {
  if (errors.size === 0) return
  await noteMissedStatement.run(tx, {
    ids: [...errors.keys()],
    errors: [...errors.values()].map((text) =>
      storableText(text.replaceAll(CONTROL_CHARACTERS, ' ').slice(0, MAX_LENGTH)),
    ),
  })
}
