import type { Database } from '../database.ts'
import type { Queryable, RowOf } from '../sql/statement.ts'
import { findLinks, findUnlinked } from './chain.sql.ts'
import { type ChainHead, chainHead, chainStart, linkHash, settledNumber } from './chain.ts'

/** A record or link that does not match the chain. */
interface AuditFinding {
  /** Null for a record that is not in the chain. */
  position: number | null
  record_number: number | null
  problem: string
}

interface Findings {
  /** The number of links that were checked. */
  links: number
  /** The number of links that retention dropped. */
  dropped: number
  /** The last link. */
  head: ChainHead
  /** In the order of the chain, at most `MAX_FINDINGS`. */
  findings: AuditFinding[]
  /** The number of all findings. */
  broken: number
}

export type AuditVerdict = Findings

export interface AuditPartVerdict extends Findings {
  /** The position before the first link that was checked. */
  after: number
  /** Where the next part begins; null at the end of the chain. */
  next: number | null
}

interface VerifyOptions {
  /** An earlier head. The chain must still contain it. */
  expect?: ChainHead
  page?: number
}

const PAGE = 5_000
const MAX_FINDINGS = 20

type Link = RowOf<typeof findLinks>

/**
 * Recomputes the whole chain in one snapshot, page by page. Finds records that were changed, deleted, reordered, or inserted
 * without a link. If retention dropped the beginning, this starts at the link that the audit log names.
 */
export async function verifyAudit(
  database: Pick<Database, 'snapshot'>,
  { expect, page = PAGE }: VerifyOptions = {},
): Promise<AuditVerdict> {
  return database.snapshot(async (tx) => {
    const start = await chainStart(tx)
    const verdict: AuditVerdict = { links: 0, dropped: start.position, head: start, findings: [], broken: 0 }
    const report = reportTo(verdict)
    if (expect !== undefined && expect.position < start.position) {
      const problem =
        `the expected link is gone: the log says that retention dropped all links up to ${start.position}. ` +
        'If that is right, expect a newer head'
      report({ position: expect.position, record_number: null, problem })
    }
    for await (const link of readLinks(tx, page)) {
      for (const finding of checkLink(verdict.head, link)) report(finding)
      if (expect !== undefined && link.position === expect.position && link.hash !== expect.hash) {
        report({ ...at(link), problem: 'the link differs from the expected one: the chain was rewritten' })
      }
      // Continues with the stored hash, so one broken link does not make all later links look broken.
      verdict.head = { position: link.position, hash: link.hash }
      verdict.links += 1
    }
    if (expect !== undefined && expect.position > verdict.head.position) {
      const problem = `the chain ends at ${verdict.head.position}, before the expected link`
      report({ position: expect.position, record_number: null, problem })
    }
    for (const finding of await findOutside(tx, { after: null, up_to: null })) report(finding)
    return verdict
  })
}

/**
 * Recomputes a part of the chain: at most `limit` links after a position, or the newest ones. Parts that begin where the one
 * before ended cover the chain and the records outside of it.
 */
export async function verifyAuditPart(
  database: Pick<Database, 'snapshot'>,
  { after, limit = PAGE }: { after?: number; limit?: number },
): Promise<AuditPartVerdict> {
  return database.snapshot(async (tx) => {
    const [start, head] = [await chainStart(tx), await chainHead(tx)]
    const requested = Math.min(after ?? head.position - limit, head.position)
    const fromStart = requested <= start.position
    // The first link of a later part is not checked: its hash is where the part begins.
    const [known, links] = fromStart
      ? [null, await findLinks.all(tx, { after: -1, limit })]
      : splitFirst(await findLinks.all(tx, { after: requested - 1, limit: limit + 1 }))
    let before: ChainHead = known ?? start
    const verdict = { links: 0, dropped: start.position, head, findings: [], broken: 0, after: before.position }
    const report = reportTo(verdict)
    for (const link of links) {
      for (const finding of checkLink(before, link)) report(finding)
      before = link
      verdict.links += 1
    }
    const last = links.at(-1) ?? known
    const isEnd = last === null || last.position >= head.position
    const range = { after: known?.record_number ?? null, up_to: isEnd ? null : last.record_number }
    for (const finding of await findOutside(tx, range)) report(finding)
    return { ...verdict, next: isEnd ? null : last.position }
  })
}

function splitFirst(links: Link[]): [Link | null, Link[]] {
  const [first = null, ...others] = links
  return [first, others]
}

const reportTo = (verdict: Findings) => (finding: AuditFinding) => {
  verdict.broken += 1
  if (verdict.findings.length < MAX_FINDINGS) verdict.findings.push(finding)
}

const at = ({ position, record_number }: Link) => ({ position, record_number })

function* checkLink(before: ChainHead, link: Link): Generator<AuditFinding> {
  if (link.position !== before.position + 1) {
    const missing = before.position + 1
    const last = link.position - 1
    const which = missing === last ? `link ${missing} is` : `links ${missing} to ${last} are`
    yield { position: missing, record_number: null, problem: `${which} missing` }
  }
  if (link.canonical === null) {
    yield { ...at(link), problem: 'the record was deleted' }
  } else if (linkHash(before.hash, link.canonical) !== link.hash) {
    yield { ...at(link), problem: 'the record or its link was changed or moved' }
  }
}

async function* readLinks(tx: Queryable, size: number): AsyncGenerator<Link> {
  for (let after = -1; ; ) {
    const page = await findLinks.all(tx, { after, limit: size })
    yield* page
    if (page.length < size) return
    after = page.at(-1)?.position ?? after
  }
}

/** Finds records without a link, with numbers in this range, that are too old to be linked soon. */
async function findOutside(
  tx: Queryable,
  range: { after: number | null; up_to: number | null },
): Promise<AuditFinding[]> {
  const rows = await findUnlinked.all(tx, { ...range, settled: await settledNumber(tx), limit: MAX_FINDINGS })
  return rows.map(({ number, behind }) => ({
    position: null,
    record_number: number,
    problem: behind
      ? 'the record is not in the chain: it was not written by Slipway'
      : 'the record is not in the chain: it was not written by Slipway, or no gateway has run since',
  }))
}
