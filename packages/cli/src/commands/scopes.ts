import type { Schema, SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { type Names, readNames } from './names.ts'
import { findId } from './records.ts'
import { collect } from './values.ts'

/** Environments and solutions that limit a role or an API key. Null: all. */
export interface Scope {
  environment_ids: string[] | null
  solution_ids: string[] | null
}

export interface ScopeOptions {
  environment?: string[]
  solution?: string[]
}

export function addScopeOptions(command: Command): Command {
  return command
    .option('-e, --environment <name>', 'only in this environment, by name or id (repeatable)', collect(String))
    .option('--solution <name>', 'only for this solution, by name or id (repeatable)', collect(String))
}

export async function findScope(client: SlipwayClient, { environment, solution }: ScopeOptions): Promise<Scope> {
  const findIds = async (kind: 'environment' | 'solution', names: string[] | undefined) =>
    names === undefined ? null : [...new Set(await Promise.all(names.map((name) => findId(client, kind, name))))]
  return {
    environment_ids: await findIds('environment', environment),
    solution_ids: await findIds('solution', solution),
  }
}

export const isLimited = ({ environment_ids, solution_ids }: Scope) => environment_ids !== null || solution_ids !== null

/** Whether both scopes have the same environments and solutions. */
export const isSameScope = (one: Scope, other: Scope) =>
  isSameList(one.environment_ids, other.environment_ids) && isSameList(one.solution_ids, other.solution_ids)

const isSameList = (one: string[] | null, other: string[] | null) => toKey(one) === toKey(other)
const toKey = (ids: string[] | null) => (ids === null ? null : ids.toSorted().join())

/** Reads the names of the environments and solutions of these scopes. */
export const readScopeNames = (client: SlipwayClient, scopes: readonly Scope[]): Promise<Names> =>
  readNames(
    client,
    scopes.flatMap(({ environment_ids, solution_ids }) => [
      ...(environment_ids ?? []).map((environment_id) => ({ environment_id })),
      ...(solution_ids ?? []).map((solution_id) => ({ solution_id })),
    ]),
  )

export const formatIds = (ids: string[] | null, names: Names): string =>
  ids === null ? 'all' : ids.map((id) => names(id)).join(', ')

export const formatBinding = ({ role, ...scope }: Schema<'RoleBinding'>, names: Names): string =>
  sanitize(`${role}${formatScope(scope, names)}`)

/** For example ` in production for Shop`. */
export function formatScope({ environment_ids, solution_ids }: Scope, names: Names): string {
  const where = environment_ids === null ? '' : ` in ${formatIds(environment_ids, names)}`
  return solution_ids === null ? where : `${where} for ${formatIds(solution_ids, names)}`
}
