import { parseArgs } from 'node:util'
import { createDatabase } from '@slipway/database'
import { type AuditVerdict, type ChainHead, verifyAudit } from '@slipway/database/audit'

const USAGE = `Usage: node services/gateway/dist/audit/verify.js [--expect POSITION:HASH]

Recomputes the chain of the audit log in the database of DATABASE_URL. Exit code 0: the chain is valid. 1: a record was
changed, deleted, reordered, or inserted without a link. 2: the chain could not be read.

  --expect POSITION:HASH   an earlier head, which the chain must still contain
`
const BROKEN = 1
const NOT_READ = 2
const NO_SUCH_TABLE = '42P01'

/** The process that runs the command. */
export interface Surroundings {
  databaseUrl: string | undefined
  print(text: string): void
  printError(text: string): void
}

function headOf(text: string | undefined): ChainHead | undefined {
  if (text === undefined) return undefined
  const [, position, hash] = /^([0-9]{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (position === undefined || hash === undefined)
    throw new Error(`--expect: "${text}" is not POSITION:HASH\n\n${USAGE}`)
  return { position: Number(position), hash }
}

function report({ links, dropped, head, findings, broken }: AuditVerdict, print: (text: string) => void): void {
  const [first] = findings
  const say = (line: string) => print(`${line}\n`)
  if (first === undefined) {
    say(`The audit log is whole: ${links} records are linked.`)
    if (dropped > 0) say(`Retention dropped ${dropped} older records; the log has a record of this.`)
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
  say(`${links} links were checked.`)
}

/** Runs the command with these arguments. Returns its exit code. */
export async function verifyCommand(args: string[], surroundings: Surroundings): Promise<number> {
  try {
    return await verify(args, surroundings)
  } catch (error) {
    const { message, code } = error as Error & { code?: unknown }
    const advice = code === NO_SUCH_TABLE ? ': bring the database to the newest schema with `make migrate`' : ''
    surroundings.printError(`${message || String(error)}${advice}\n`)
    return NOT_READ
  }
}

async function verify(args: string[], { databaseUrl, print }: Surroundings): Promise<number> {
  const { values } = parseArgs({ args, options: { expect: { type: 'string' }, help: { type: 'boolean' } } })
  if (values.help === true) {
    print(USAGE)
    return 0
  }
  if (!databaseUrl) throw new Error('DATABASE_URL is not set: set it to the database with the audit log')
  const expect = headOf(values.expect)
  const database = createDatabase({
    url: databaseUrl,
    applicationName: 'slipway audit verify',
    max: 1,
    tenant: '*',
  })
  try {
    const verdict = await verifyAudit(database, expect === undefined ? {} : { expect })
    report(verdict, print)
    return verdict.broken === 0 ? 0 : BROKEN
  } finally {
    await database.close()
  }
}
