import { table, writeSection } from '../page.ts'

export interface MutantResult {
  id: string
  breaks: string
  rounds: number
  /** The invariants that were violated. None if the fault was missed. */
  caughtBy: string[]
  sentences: string[]
}

export interface MutantResults {
  at: string
  minutes: number
  controls: { seed: number; violations: string[] }[]
  mutants: MutantResult[]
}

export function writeReport({ at, minutes, controls, mutants }: MutantResults): void {
  const caught = mutants.filter(({ caughtBy }) => caughtBy.length > 0).length
  const found = controls.filter(({ violations }) => violations.length > 0).length
  const rows = mutants.map(({ breaks, caughtBy, rounds }) => [
    breaks,
    caughtBy.length === 0 ? '**missed**' : caughtBy.join(', '),
    String(rounds),
  ])
  writeSection(
    'mutants',
    [
      `The run of ${at}: ${caught} of ${mutants.length} faults were caught in ${minutes} minutes. Of ${controls.length} rounds without a fault, ${found} violated something.`,
      table(['planted fault', 'violated', 'rounds'], rows),
    ].join('\n\n'),
  )
}
