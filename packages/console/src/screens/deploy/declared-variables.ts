import type { Schema } from '@slipway/client'
import { useQuery } from '@tanstack/react-query'
import { client } from '../../api/client.ts'
import { type Kind, OPERATIONS, PART_OF } from '../../components/source-kinds.ts'
import { type Part, partsOf } from '../sources/parts-of.ts'
import type { Variable } from './variable-values.ts'

/** The variables that a version and its parts declare, each name once. */
export function useDeclaredVariables(kind: Kind, id: string | null, version: string | undefined) {
  return useQuery({
    queryKey: ['declaredVariables', kind, id, version],
    queryFn: async ({ signal }) =>
      mergeByName(await readVariables({ kind, id: id ?? '', version: version ?? '' }, signal)),
    enabled: id !== null && version !== undefined,
    staleTime: 60_000,
  })
}

interface VersionRef {
  kind: Kind
  id: string
  version: string
}

/** The inner ones first, as the server merges their defaults: action, sequence, solution. */
async function readVariables(ref: VersionRef, signal: AbortSignal): Promise<Variable[]> {
  const { kind, id, version } = ref
  const { definition } = await client.call(OPERATIONS[kind].getVersion, { params: { id, version }, signal })
  const partKind = PART_OF[kind]
  const parts = new Map(partsOf(kind, definition).map((part) => [`${part.id} ${part.requirement}`, part]))
  const inner = await Promise.all(
    [...parts.values()].map((part) => (partKind === null ? [] : readPart(partKind, part, signal))),
  )
  return [...inner.flat(), ...((definition as Schema<'ActionDefinition'>).variables ?? [])]
}

async function readPart(kind: Kind, part: Part, signal: AbortSignal): Promise<Variable[]> {
  try {
    const source = await client.call(OPERATIONS[kind].get, { params: { id: part.id }, signal })
    const version = likelyVersion(source, part.requirement)
    return version === undefined ? [] : await readVariables({ kind, id: part.id, version }, signal)
  } catch (error) {
    signal.throwIfAborted()
    // Without the permission to read the parts, the form has fewer inputs. The preview still names a missing variable.
    console.warn('The variables of a part are not known', error)
    return []
  }
}

/**
 * The version that the server probably takes: the exact one, else the latest. The form needs no more, because the server
 * resolves ranges and checks every value itself.
 */
export function likelyVersion(source: Schema<'Source'>, requirement: string | undefined): string | undefined {
  const exact = source.versions.find(({ version }) => version === requirement)
  return exact?.version ?? source.latest_version ?? source.versions[0]?.version
}

function mergeByName(variables: readonly Variable[]): Variable[] {
  const merged = new Map<string, Variable>()
  for (const variable of variables) {
    const known = merged.get(variable.name)
    merged.set(variable.name, {
      ...known,
      ...variable,
      required: known?.required === true || variable.required === true,
      prompted: known?.prompted === true || variable.prompted === true,
      sensitive: known?.sensitive === true || variable.sensitive === true,
    })
  }
  return [...merged.values()]
}
