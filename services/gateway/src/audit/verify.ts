import { parseArgs } from 'node:util'
import { type AuditVerdict, type ChainHead, verifyAudit } from '@slipway/audit'
import { createDatabase } from '@slipway/database'

const USAGE = `Usage: node services/gateway/dist/audit/verify.js [--expect POSITION:HASH]

Recomputes the chain of the audit log in the database that DATABASE_URL names. Ends with 0 when it holds, with 1 when a
record was changed, deleted, put in another order or inserted behind the chain's back, and with 2 when it could not look.

  --expect POSITION:HASH   a head that was noted before and that the chain must still hold
`
const BROKEN = 1
const COULD_NOT_LOOK = 2
const NO_SUCH_TABLE = '42P01'

function headOf(text: string | undefined): ChainHead | undefined {
  if (text === undefined) return undefined
  const [, position, hash] = /^([0-9]{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (position === undefined || hash === undefined) throw new Error(`--expect: not POSITION:HASH\n\n${USAGE}`)
  return { position: Number(position), hash }
}

function report({ links, dropped, head, findings, broken }: AuditVerdict): void {
  const [first] = findings
  const say = (line: string) => process.stdout.write(`${line}\n`)
  if (first === undefined) {
    say(`The audit log is whole: ${links} records are linked.`)
    if (dropped > 0) say(`Retention dropped ${dropped} older ones, as the log itself says.`)
    say(`Head: ${head.position}:${head.hash}`)
    return
  }
  const where = (position: number | null) => (position === null ? 'outside of the chain' : `position ${position}`)
  const which = (number: number | null) => (number === null ? '' : `, record ${number}`)
  say(`The audit log is BROKEN, first at ${where(first.position)}${which(first.record_number)}:`)
  for (const { position, record_number, problem } of findings) {
    say(`  ${where(position)}${which(record_number)}: ${problem}`)
  }
  if (broken > findings.length) say(`  and ${broken - findings.length} more`)
  say(`${links} links were looked at.`)
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { expect: { type: 'string' }, help: { type: 'boolean' } } })
  if (values.help === true) {
    process.stdout.write(USAGE)
    return 0
  }
  const url = process.env['DATABASE_URL']
  if (!url) throw new Error('DATABASE_URL is not set: name the database whose audit log is to be verified')
  const expect = headOf(values.expect)
  const database = createDatabase({ url, applicationName: 'slipway audit verify', max: 1, tenant: '*' })
  try {
    const verdict = await verifyAudit(database, expect === undefined ? {} : { expect })
    report(verdict)
    return verdict.broken === 0 ? 0 : BROKEN
  } finally {
    await database.close()
  }
}

process.exitCode = await main().catch((error: Error & { code?: unknown }) => {
  const advice = error.code === NO_SUCH_TABLE ? ': bring the database to the newest schema with `make migrate`' : ''
  process.stderr.write(`${error.message || String(error)}${advice}\n`)
  return COULD_NOT_LOOK
})
