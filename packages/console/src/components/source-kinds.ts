import type { Schema } from '@slipway/client'

export type Kind = Schema<'SourceType'>

/** The kinds of source, from the largest to the smallest. */
export const KINDS = ['solution', 'sequence', 'action'] as const satisfies readonly Kind[]

export const KIND_LABELS: Record<Kind, string> = { solution: 'Solutions', sequence: 'Sequences', action: 'Actions' }

/** The kind that a definition of this kind consists of; an action has no parts. */
export const PART_OF: Record<Kind, Kind | null> = { solution: 'sequence', sequence: 'action', action: null }

/** The three kinds have the same operations under different names. */
export const OPERATIONS = {
  solution: {
    list: 'listSolutions',
    get: 'getSolution',
    getVersion: 'getSolutionVersion',
    create: 'createSolution',
    publish: 'createSolutionVersion',
    remove: 'deleteSolution',
  },
  sequence: {
    list: 'listSequences',
    get: 'getSequence',
    getVersion: 'getSequenceVersion',
    create: 'createSequence',
    publish: 'createSequenceVersion',
    remove: 'deleteSequence',
  },
  action: {
    list: 'listActions',
    get: 'getAction',
    getVersion: 'getActionVersion',
    create: 'createAction',
    publish: 'createActionVersion',
    remove: 'deleteAction',
  },
} as const

/** The kind of `action` or `actions`; null for any other text. */
export function parseKind(text: string | undefined): Kind | null {
  return KINDS.find((kind) => text === kind || text === `${kind}s`) ?? null
}

export const CAPITALIZED: Record<Kind, string> = { solution: 'Solution', sequence: 'Sequence', action: 'Action' }
