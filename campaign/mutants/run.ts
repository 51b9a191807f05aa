// node campaign/mutants/run.ts: runs rounds on services with one planted fault each — see campaign/mutants/README.md
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { repositoryRoot } from '@slipway/testing'
import { uptime } from '../clock.ts'
import { KINDS } from '../plan.ts'
import { type RoundResult, runRound, Stage } from '../round.ts'
import { type Servers, startServers, stopServers } from '../suite.ts'
import { buildMutant } from './build.ts'
import { MUTANTS, type Mutant } from './mutants.ts'
import { type MutantResult, type MutantResults, writeReport } from './report.ts'

const RESULTS = path.join(repositoryRoot, 'campaign/results/mutants.json')
const FOLDER = path.join(repositoryRoot, '.slipway/mutants/rounds')
/** One round may miss a planted fault. Each round has another seed. */
const MOST_ROUNDS = 3
const ROUND = { workMs: 25_000, faults: 30, mostRestMs: 60_000 }
/** After this number of mutants a round without a planted fault follows. It must find no violation. */
const CONTROL_EVERY = 8
const LEAST_CAUGHT = 0.95

const only = process.env['ONLY'] ?? ''
const chosen = MUTANTS.filter(({ id }) => only === '' || only.split(',').includes(id))
if (chosen.length === 0) throw new Error(`no mutant is called ${only}: ${MUTANTS.map(({ id }) => id).join(', ')}`)
const { NODE_BUNDLE } = await import(pathToFileURL(path.join(repositoryRoot, 'scripts/bundle-options.mjs')).href)

const began = uptime()
const isWhole = chosen.length === MUTANTS.length
/** A run of some mutants replaces their results. */
const known: MutantResults | null =
  isWhole || !fs.existsSync(RESULTS) ? null : JSON.parse(fs.readFileSync(RESULTS, 'utf8'))
const mutants = new Map(known?.mutants.map((mutant) => [mutant.id, mutant]))
const controls: MutantResults['controls'] = known?.controls ?? []

const servers = await startServers()
try {
  for (const [index, mutant] of chosen.entries()) {
    const result = await tryMutant(servers, mutant)
    mutants.set(mutant.id, result)
    console.log(`${mutant.id}: ${result.caughtBy.length === 0 ? 'MISSED' : `caught by ${result.caughtBy.join(', ')}`}`)
    const isControlled = (index + 1) % CONTROL_EVERY === 0 || index + 1 === chosen.length
    if (isControlled) controls.push(await control(servers, index + 1))
    write()
  }
} finally {
  await stopServers(servers)
}
const results = write()
const caught = results.mutants.filter(({ caughtBy }) => caughtBy.length > 0).length
const isClean = controls.every(({ violations }) => violations.length === 0)
console.log(
  `mutants: ${caught} of ${results.mutants.length} caught, ${controls.length} rounds without a fault ${isClean ? 'clean' : 'VIOLATED'}`,
)
if (MUTANTS.every(({ id }) => mutants.has(id))) writeReport(results)
process.exit(isClean && caught >= LEAST_CAUGHT * results.mutants.length ? 0 : 1)

function write(): MutantResults {
  const at = new Date().toISOString().slice(0, 10)
  const minutes = (known?.minutes ?? 0) + Math.round((uptime() - began) / 60_000)
  const inOrder = MUTANTS.flatMap(({ id }) => mutants.get(id) ?? [])
  const results = { at, minutes, controls, mutants: inOrder }
  fs.writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`)
  return results
}

async function tryMutant(servers: Servers, mutant: Mutant): Promise<MutantResult> {
  const bundles = await buildMutant(mutant, NODE_BUNDLE)
  let rounds = 0
  const caughtBy = new Map<string, string>()
  while (rounds < MOST_ROUNDS && caughtBy.size === 0) {
    rounds += 1
    const violations = await violationsOf(servers, rounds, mutant, bundles)
    console.log(
      `  ${mutant.id}, round ${rounds}: ${violations.length} violations after ${Math.round((uptime() - began) / 1_000)} s`,
    )
    for (const { invariant, sentence } of violations) if (!caughtBy.has(invariant)) caughtBy.set(invariant, sentence)
  }
  const { id, breaks } = mutant
  return { id, breaks, rounds, caughtBy: [...caughtBy.keys()], sentences: [...caughtBy.values()] }
}

async function control(servers: Servers, seed: number) {
  const violations = (await violationsOf(servers, seed)).map(({ invariant, sentence }) => `${invariant}: ${sentence}`)
  for (const violation of violations) console.log(`  without a fault: ${violation}`)
  return { seed, violations }
}

async function violationsOf(
  servers: Servers,
  seed: number,
  mutant?: Mutant,
  bundles?: string,
): Promise<Pick<RoundResult['violations'][number], 'invariant' | 'sentence'>[]> {
  const folder = path.join(FOLDER, `${mutant?.id ?? 'control'}-${seed}`)
  fs.rmSync(folder, { recursive: true, force: true })
  const stage = await Stage.open(servers, bundles)
  try {
    const { violations } = await runRound(
      stage,
      seed,
      { ...ROUND, workMs: mutant?.workMs ?? ROUND.workMs, kinds: mutant?.kinds ?? KINDS },
      folder,
    )
    return violations
  } finally {
    for (const complaint of await stage.close()) console.log(`  at the end: ${complaint.split('\n')[0]}`)
  }
}
