// node tests/campaign/main.ts [MINUTES=60] [SEED=n] [ROUNDS=n] [ROUND=seed] [SHORT=1] — see tests/campaign/README.md
import { randomInt } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'
import { uptime } from './clock.ts'
import type { PlanOptions } from './plan.ts'
import { Random } from './random.ts'
import { describeCampaign } from './report.ts'
import { type RoundResult, runRound, Stage } from './round.ts'
import { readSettings } from './settings.ts'
import { startServers, stopServers } from './suite.ts'

/** Much longer than the half minute in which a round comes to rest. */
const WORK_MS = 120_000
/** Three in two seconds, so that several are active at any time. */
const FAULTS = 180
const SHORT_SEEDS = [1, 2, 3]
const SHORT_OPTIONS: PlanOptions = { workMs: 25_000, faults: 38 }
/** Few, because `make test-all` runs the short form beside other tests. */
const SHORT_CLIENTS = 2
/** Other tests and a neighbour may keep all processors busy. The long form judges by the documented bounds. */
const SHORT_PATIENCE = 6
/** No round starts after this. */
const SHORT_MINUTES = 2

/** Other options give another plan for the same seed. */
interface Regression {
  seed: number
  workMs: number
  faults: number
  invariants: string[]
}

const setting = readSettings({ MINUTES: 0, SEED: 0, ROUNDS: 1, ROUND: 0, FAULTS: 0, WORK_MS: 0, SHORT: 0 })

const regressionsFile = path.join(import.meta.dirname, 'regressions.json')

const isShort = setting('SHORT') === 1
const replayed = setting('ROUND')
const seed = replayed ?? (isShort ? 0 : setting('SEED')) ?? randomInt(2 ** 31)
const began = uptime()
const endsBy = began + (setting('MINUTES') ?? (isShort ? SHORT_MINUTES : 60)) * 60_000
const options: PlanOptions = { workMs: setting('WORK_MS') ?? WORK_MS, faults: setting('FAULTS') ?? FAULTS }
const firstRounds = chooseFirstRounds()
const mostRounds =
  isShort || replayed !== undefined ? firstRounds.length : (setting('ROUNDS') ?? Number.POSITIVE_INFINITY)
const folder = path.join(repositoryRoot, '.slipway', 'campaign', String(seed))
const say = (text: string) => console.log(text)

/** Errors of the campaign itself. It goes on, for an end without cleaning up leaves processes behind. */
let errors = 0
process.on('uncaughtException', (error) => {
  errors += 1
  say(`an error of the campaign itself: ${error.stack}`)
})

const results: RoundResult[] = []
let stage: Promise<Stage> | null = null
let cleaned: Promise<void> | null = null
say(`campaign: seed ${seed}`)
const servers = startServers()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, async () => {
    say(`campaign: ended by ${signal}`)
    await cleanUp()
    process.exit(1)
  })
}
try {
  const random = new Random(seed)
  for (let n = 1; n <= mostRounds && (n === 1 || uptime() < endsBy); n += 1) {
    const { seed: roundSeed, workMs, faults } = firstRounds[n - 1] ?? { seed: random.seedFor(), ...options }
    stage ??= openStage()
    const place = path.join(folder, `round-${roundSeed}`)
    fs.rmSync(place, { recursive: true, force: true })
    const result = await runRound(
      await stage,
      roundSeed,
      { workMs, faults, ...(isShort ? { clients: SHORT_CLIENTS, patience: SHORT_PATIENCE } : {}) },
      place,
    )
    results.push(result)
    report(n, result)
    if (result.violations.length === 0) {
      fs.rmSync(place, { recursive: true, force: true })
      continue
    }
    say(`  replay: make campaign ROUND=${roundSeed} WORK_MS=${workMs} FAULTS=${faults}`)
    say(`  kept: ${path.relative(repositoryRoot, place)}`)
    rememberRegression(result, { workMs, faults })
    // The damage of one round must not be found again in the next one.
    await closeStage()
  }
} catch (error) {
  errors += 1
  say(`the campaign ends early: ${error instanceof Error ? error.stack : error}`)
} finally {
  await cleanUp()
}
fs.mkdirSync(folder, { recursive: true })
fs.writeFileSync(path.join(folder, 'result.json'), JSON.stringify({ seed, options, rounds: results }, null, 1))
const sum = (of: (result: RoundResult) => number) => results.reduce((total, result) => total + of(result), 0)
const violations = sum((result) => result.violations.length)
say(
  `campaign: ${results.length} rounds, ${sum(({ faults }) => faults.length)} faults, ${sum(({ accepted }) => accepted)} creates, ` +
    `${sum(({ starts }) => starts)} commands, ${sum(({ lines }) => lines)} lines, ${violations} violations`,
)
const reportFile = path.join(folder, 'report.md')
fs.writeFileSync(reportFile, `${describeCampaign(seed, (uptime() - began) / 60_000, results)}\n`)
say(`campaign: wrote ${path.relative(repositoryRoot, reportFile)}`)
process.exit(violations === 0 && errors === 0 && results.length > 0 ? 0 : 1)

async function openStage(): Promise<Stage> {
  const opened = await Stage.open(await servers)
  for (const family of opened.campaign.passedOver()) say(`faults of ${family} are passed over`)
  return opened
}

/** Stops everything that was started. */
function cleanUp(): Promise<void> {
  cleaned ??= closeStage().then(async () => stopServers(await servers))
  return cleaned
}

async function closeStage(): Promise<void> {
  const closing = stage
  stage = null
  // A stage that could not be opened has stopped its processes. The servers are still to be stopped.
  const complaints = await closing?.then(
    (opened) => opened.close(),
    () => [],
  )
  for (const complaint of complaints ?? []) say(`  at the end: ${complaint.split('\n')[0]}`)
}

function report(n: number, result: RoundResult): void {
  const { faults, accepted, creates, starts, lines, restMs, totalMs, exits } = result
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(0)} s`
  say(
    `round ${n}, seed ${result.seed}: ${faults.length} faults, ${accepted} of ${creates} creates accepted, ${starts} commands, ` +
      `${lines} lines, at rest after ${seconds(restMs)}, ${seconds(totalMs)}` +
      (exits.length === 0
        ? ''
        : `, ended by themselves: ${exits.map(({ process, code }) => `${process} ${code}`).join(', ')}`),
  )
  const phases = Object.entries(result.phases).filter(([, ms]) => ms >= 500)
  say(`  ${phases.map(([name, ms]) => `${name} ${seconds(ms)}`).join(', ')}`)
  const counts = new Map<string, number>()
  for (const { invariant, sentence } of result.violations) {
    const key = `${invariant}: ${sentence}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  for (const [key, count] of counts) say(`  VIOLATED ${key} (${count})`)
}

/** The rounds before the random ones: a campaign begins with those that have found a violation. */
function chooseFirstRounds(): ({ seed: number } & PlanOptions)[] {
  if (replayed !== undefined) return [{ seed: replayed, ...options }]
  return isShort ? SHORT_SEEDS.map((seed) => ({ seed, ...SHORT_OPTIONS })) : knownRegressions()
}

function knownRegressions(): Regression[] {
  return JSON.parse(fs.readFileSync(regressionsFile, 'utf8'))
}

function rememberRegression({ seed, violations }: RoundResult, { workMs, faults }: PlanOptions): void {
  const known = knownRegressions()
  if (known.some((regression) => regression.seed === seed)) return
  known.push({ seed, workMs, faults, invariants: [...new Set(violations.map(({ invariant }) => invariant))] })
  fs.writeFileSync(regressionsFile, `${JSON.stringify(known, null, 2)}\n`)
}
