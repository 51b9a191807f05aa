import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'
import { KINDS } from '../plan.ts'
import { runRound, Stage } from '../round.ts'
import { startServers, stopServers } from '../suite.ts'
import type { Mutant } from './mutants.ts'

/** One round may miss a planted fault. Each round has another seed. */
const MOST_ROUNDS = 3
const ROUND = { workMs: 25_000, faults: 30, mostRestMs: 60_000 }

/** Runs rounds of the campaign on other bundles of the services. Returns the invariants that the first bad round violated. */
export async function violationsIn(mutant: Mutant, bundles: string): Promise<Map<string, string>> {
  const servers = await startServers()
  try {
    for (let seed = 1; seed <= MOST_ROUNDS; seed += 1) {
      const folder = path.join(repositoryRoot, '.slipway/mutants/rounds', `${mutant.id}-${seed}`)
      fs.rmSync(folder, { recursive: true, force: true })
      const stage = await Stage.open(servers, bundles)
      try {
        const { workMs = ROUND.workMs, kinds = KINDS } = mutant
        const { violations } = await runRound(stage, seed, { ...ROUND, workMs, kinds }, folder)
        if (violations.length > 0) {
          return new Map(violations.reverse().map(({ invariant, sentence }) => [invariant, sentence]))
        }
      } finally {
        for (const complaint of await stage.close()) console.log(`  at the end: ${complaint.split('\n')[0]}`)
      }
    }
    return new Map()
  } finally {
    await stopServers(servers)
  }
}
