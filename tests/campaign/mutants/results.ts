import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'
import { table } from '../table.ts'
import { MUTANTS } from './mutants.ts'

export interface Finding {
  /** Where the search for the fault ended: in the tests that own the rule, in the other tests, or in a round of the campaign. */
  step: 'owner' | 'other test' | 'golden path' | 'campaign'
  file: string
  /** The name of the first test that failed, or the violated invariants. */
  test: string
  message: string
}

/** What is known so far. A later call goes on from here. */
export interface Results {
  /** Null: nothing found the fault. */
  mutants: Record<string, Finding | null>
  /** The files that found a fault, and whether all their tests pass without a fault. */
  controls: Record<string, boolean>
}

const FILE = path.join(repositoryRoot, '.slipway/mutants/results.json')

/** The results of the calls before; none once each mutant has a result. */
export function readResults(): Results {
  const fresh: Results = { mutants: {}, controls: {} }
  if (!fs.existsSync(FILE)) return fresh
  const results: Results = JSON.parse(fs.readFileSync(FILE, 'utf8'))
  return MUTANTS.every(({ id }) => id in results.mutants) ? fresh : results
}

export function writeResults(results: Results): void {
  fs.mkdirSync(path.dirname(FILE), { recursive: true })
  fs.writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`)
}

/** The number of faults that were found, and by which part of the tests. */
export function countFindings({ mutants, controls }: Results) {
  const found = Object.values(mutants).filter((finding) => finding !== null)
  const valid = found.filter(({ file, step }) => step === 'campaign' || controls[file] === true)
  return { all: valid.length, byTests: valid.filter(({ step }) => step !== 'campaign').length }
}

/** A table of all mutants that were tried, in the order of their list. */
export function tableOf({ mutants }: Results): string {
  const rows = MUTANTS.flatMap(({ id }) => {
    const finding = mutants[id]
    if (finding === undefined) return []
    if (finding === null) return [[id, '**not found**', '']]
    return [[id, finding.file, finding.test.replaceAll('|', '\\|')]]
  })
  return table(['mutant', 'found by', 'test'], rows)
}
