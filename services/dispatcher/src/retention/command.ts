import { parseArgs } from 'node:util'
import { Strict } from '@slipway/contracts'
import { createDatabase } from '@slipway/database'
import { commonConfig, createLogger, loadConfig } from '@slipway/runtime'
import { type Droppable, findDroppable, retain } from './retain.ts'
import { type RetentionRules, retentionConfig, retentionRules } from './settings.ts'

const USAGE = `Usage: node services/dispatcher/dist/retention/command.js [--apply]

Says what retention would drop now by the settings SLIPWAY_RETENTION_*, and drops nothing. Dispatchers drop it every hour.

  --apply   drops it now
`
const { DATABASE_URL } = commonConfig
function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
const MIB = 1024 * 1024

function tell(rules: RetentionRules, found: Droppable): void {
  const { days, results, deployments, steps, requests, auditRecords } = found
  const kept = (what: string, limit: number | null) => `${what}, kept for ${limit === null ? 'ever' : `${limit} days`}`
  const size = days.reduce((sum, { bytes }) => sum + bytes, 0)
  say(`${kept('log lines', rules.logDays)}: ${days.length} days, ${(size / MIB).toFixed(1)} MiB`)
  for (const { day, bytes } of days) say(`  ${day}: ${(bytes / MIB).toFixed(1)} MiB`)
  say(`${kept('results', rules.resultDays)}: ${results}`)
  const least = `the latest ${rules.keepDeployments} of each source and environment stay`
  say(`${kept('deployments', rules.deploymentDays)} (${least}): ${deployments} with ${steps} steps`)
  say(`${kept('ended requests of the queue', rules.deploymentDays)}: ${requests}`)
  say(`${kept('audit records', rules.auditDays)}: ${auditRecords}`)
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { apply: { type: 'boolean' }, 'dry-run': { type: 'boolean' }, help: { type: 'boolean' } },
  })
  if (values.help === true) return say(USAGE)
  if (values.apply === true && values['dry-run'] === true) throw new Error('--apply and --dry-run exclude each other')
  const config = loadConfig(Strict({ DATABASE_URL, ...retentionConfig }))
  const rules = retentionRules(config)
  const database = createDatabase({
    url: config.DATABASE_URL,
    applicationName: 'slipway retention',
    max: 2,
    tenant: '*',
  })
  try {
    tell(rules, await findDroppable(database, rules))
    if (values.apply !== true) return say('Nothing was dropped. Give --apply to drop this data.')
    const logger = createLogger({ service: 'retention', level: 'warn' })
    const dropped = await retain({ database, rules, logger, signal: new AbortController().signal })
    if (dropped === null) throw new Error('Another process is running retention: try again later')
    const { days, results, deployments, auditRecords } = dropped
    say(
      `Dropped: ${days} days of log lines, ${results} results, ${deployments} deployments, ${auditRecords} audit records.`,
    )
  } finally {
    await database.close()
  }
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message || String(error)}\n`)
  process.exitCode = 1
})
