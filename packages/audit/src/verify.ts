import type { Database, Queryable, RowOf } from '@slipway/database'
import { findLinks, findUnlinked } from './chain.sql.ts'
import { type ChainHead, chainStart, linkHash, settledNumber } from './chain.ts'

/** A place where the log is not what the chain says. */
export interface AuditFinding {
  /** Null for a record that is not in the chain. */
  position: number | null
  record_number: number | null
  problem: string
}

export interface AuditVerdict {
  links: number
  /** How many were dropped by retention, before the first. */
  dropped: number
  head: ChainHead
  /** In the order of the chain; the first is the first broken place. At most `MAX_FINDINGS`. */
  findings: AuditFinding[]
  /** How many there are in all. */
  broken: number
}

export interface VerifyOptions {
  /** A head that was noted before: the chain must still hold it. */
  expect?: ChainHead
  page?: number
}

const PAGE = 5_000
const MAX_FINDINGS = 20

type Link = RowOf<typeof findLinks>

/**
 * Recomputes the whole chain in one pass over one snapshot, page by page, and looks for records outside of it. Finds what
 * was changed, deleted, put in another order, or inserted behind the chain's back. Where retention dropped the beginning, it
 * goes on from the link that the log names for that.
 */
export async function verifyAudit(
  database: Pick<Database, 'snapshot'>,
  { expect, page = PAGE }: VerifyOptions = {},
): Promise<AuditVerdict> {
  return database.snapshot(async (tx) => {
    const start = await chainStart(tx)
    const verdict: AuditVerdict = { links: 0, dropped: start.position, head: start, findings: [], broken: 0 }
    const found = (finding: AuditFinding) => {
      verdict.broken += 1
      if (verdict.findings.length < MAX_FINDINGS) verdict.findings.push(finding)
    }
    if (expect !== undefined && expect.position < start.position) {
      const problem =
        `the link that was noted is gone: the log says that retention dropped all links up to ${start.position}. ` +
        'If that is right, expect a newer head'
      found({ position: expect.position, record_number: null, problem })
    }
    for await (const link of links(tx, page)) {
      for (const finding of judge(verdict.head, link)) found(finding)
      if (expect !== undefined && link.position === expect.position && link.hash !== expect.hash) {
        found({ ...at(link), problem: 'the link is not the one that was noted: the chain was written anew' })
      }
      // From what is stored, so that one broken link does not hide what is behind it.
      verdict.head = { position: link.position, hash: link.hash }
      verdict.links += 1
    }
    if (expect !== undefined && expect.position > verdict.head.position) {
      const problem = `the chain ends at ${verdict.head.position}, before the link that was noted`
      found({ position: expect.position, record_number: null, problem })
    }
    for (const finding of await outside(tx)) found(finding)
    return verdict
  })
}

const at = ({ position, record_number }: Link) => ({ position, record_number })

function* judge(before: ChainHead, link: Link): Generator<AuditFinding> {
  if (link.position !== before.position + 1) {
    const missing = before.position + 1
    const last = link.position - 1
    const which = missing === last ? `link ${missing} is` : `links ${missing} to ${last} are`
    yield { position: missing, record_number: null, problem: `${which} missing` }
  }
  if (link.canonical === null) {
    yield { ...at(link), problem: 'the record was deleted' }
  } else if (linkHash(before.hash, link.canonical) !== link.hash) {
    yield { ...at(link), problem: 'the record or its link was changed, or is not in its place' }
  }
}

async function* links(tx: Queryable, size: number): AsyncGenerator<Link> {
  for (let after = -1; ; ) {
    const page = await findLinks.all(tx, { after, limit: size })
    yield* page
    if (page.length < size) return
    after = page.at(-1)?.position ?? after
  }
}

/** Records that no link vouches for, though the time in which they would have been linked is over. */
async function outside(tx: Queryable): Promise<AuditFinding[]> {
  const rows = await findUnlinked.all(tx, { settled: await settledNumber(tx), limit: MAX_FINDINGS })
  return rows.map(({ number, behind }) => ({
    position: null,
    record_number: number,
    problem: behind
      ? 'the record is not in the chain: it was inserted behind its back'
      : 'the record is not in the chain: it was inserted behind its back, or no gateway has run since',
  }))
}
