import type { Item } from '@slipway/client'
import { type Limits, limitsOf, storedLimits } from '../../components/limits.ts'

type Stored = Item<'listUsers'>['role_bindings']

/** A role in a scope, as the form has it; `row` identifies it while the rest changes. */
export interface BindingDraft extends Limits {
  row: number
  role: string | null
}

export const draftsOf = (bindings: Stored): BindingDraft[] =>
  bindings.map((binding, row) => ({ row, role: binding.role, ...limitsOf(binding) }))

export const newDraft = (drafts: readonly BindingDraft[]): BindingDraft => ({
  row: Math.max(-1, ...drafts.map(({ row }) => row)) + 1,
  role: null,
  environments: [],
  solutions: [],
})

/** The bindings of a form. The form requires a role in each row. */
export const bindingsOf = (drafts: readonly BindingDraft[]): Stored =>
  drafts.flatMap(({ role, ...limits }) => (role === null ? [] : [{ role, ...storedLimits(limits) }]))
