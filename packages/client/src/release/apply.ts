import { isDeepStrictEqual } from 'node:util'
import type {
  CreateActionVersion,
  CreateSequenceVersion,
  CreateSolutionVersion,
  Static,
  VariableDefinition,
} from '@slipway/contracts'
import { ApiError } from '../api-error.ts'
import type { Sources } from '../catalog.ts'
import type { SlipwayClient } from '../client.ts'
import type { Release } from './load.ts'
import { FileProblems, type YamlFile } from './yaml-file.ts'

/** Ids of what a release consists of on the server. */
export interface Applied {
  solutionId: string
  environmentId: string | null
  targetIds: string[]
}

type Report = (line: string) => void
type Body = { name: string; description?: string | null; version: string; definition: object }
interface Part {
  kind: 'action' | 'sequence' | 'solution'
  file: YamlFile
  /** JSON Pointer to the part in its file. */
  pointer: string
  name: string
  description?: string | undefined
  version: string
}

/**
 * Brings the server's catalog to what the files say: creates what is missing and publishes versions that are not
 * published yet. Says in a line what it does; doing it twice does nothing the second time. Throws FileProblems where a
 * definition was changed without raising its version.
 */
export async function applyRelease(client: SlipwayClient, release: Release, report: Report): Promise<Applied> {
  const actionIds = new Map<string, string>()
  for (const [key, { file, definition }] of release.actions) {
    const part: Part = { kind: 'action', file, pointer: '', ...named(file.value) }
    actionIds.set(key, await publish(client.actions, part, definition, report))
  }

  const { solution } = release
  const entries: { sequence_id: string }[] = []
  for (const [n, { actions, variables, ...sequence }] of solution.value.sequences.entries()) {
    const steps = actions.map(({ action, ...entry }) => ({ action_id: actionIds.get(action) as string, ...entry }))
    const definition = { actions: steps, ...(variables ? { variables } : {}) }
    const part: Part = { kind: 'sequence', file: solution, pointer: `/sequences/${n}`, ...named(sequence) }
    entries.push({ sequence_id: await publish(client.sequences, part, definition, report) })
  }

  const { variables } = solution.value
  const part: Part = { kind: 'solution', file: solution, pointer: '', ...named(solution.value) }
  const definition = { sequences: entries, ...(variables ? { variables } : {}) }
  const solutionId = await publish(client.solutions, part, definition, report)

  const environmentId = await applyEnvironment(client, release, report)
  return { solutionId, environmentId, targetIds: await applyTargets(client, release, environmentId, report) }
}

const named = ({ name, description, version }: { name: string; description?: string; version: string }) => ({
  name,
  description,
  version,
})

async function publish(
  sources: Sources<
    never,
    Static<typeof CreateActionVersion> & Static<typeof CreateSequenceVersion> & Static<typeof CreateSolutionVersion>
  >,
  { kind, file, pointer, name, description, version }: Part,
  definition: object,
  report: Report,
): Promise<string> {
  const existing = await sources.findByName(name)
  if (!existing) {
    const body: Body = { name, version, definition, ...(description === undefined ? {} : { description }) }
    const { id } = await refusalsOf(file, () => sources.create(body as never))
    report(`created ${kind} ${name} ${version}`)
    return id
  }
  const published = await sources.getVersion(existing.id, version).catch(ignoreMissing)
  if (!published) {
    await refusalsOf(file, () => sources.createVersion(existing.id, { version, definition } as never))
    report(`published ${kind} ${name} ${version}`)
  } else if (!isSameDefinition(published.definition, definition)) {
    const message = `is ${version}, which is published with another definition: raise it to publish this one`
    throw new FileProblems([file.problem(`${pointer}/version`, message)])
  }
  return existing.id
}

async function applyEnvironment(client: SlipwayClient, { environment }: Release, report: Report) {
  if (!environment) return null
  const { name, variables } = environment.value
  const existing = await client.environments.findByName(name)
  if (!existing) {
    const { id } = await refusalsOf(environment, () => client.environments.create(environment.value))
    report(`created environment ${name}`)
    return id
  }
  const differs = !isDeepStrictEqual(existing.variables, { ...variables })
  if (differs) report(`kept environment ${name} as it is, though ${environment.name} has other variables`)
  return existing.id
}

async function applyTargets(
  client: SlipwayClient,
  { targets }: Release,
  environmentId: string | null,
  report: Report,
): Promise<string[]> {
  const ids: string[] = []
  for (const target of targets.value) {
    const existing = await client.targets.findByName(target.name)
    if (existing) {
      const differs =
        existing.environment_id !== environmentId ||
        existing.connection.type !== target.connection.type ||
        !isDeepStrictEqual(existing.variables, { ...target.variables })
      if (differs) report(`kept target ${target.name} as it is, though ${targets.name} has another`)
      ids.push(existing.id)
      continue
    }
    const body = { ...target, ...(environmentId === null ? {} : { environment_id: environmentId }) }
    const { id } = await refusalsOf(targets, () => client.targets.create(body))
    report(`created target ${target.name}`)
    ids.push(id)
  }
  return ids
}

/** What the server alone could find wrong with a file is said of that file. */
async function refusalsOf<T>(file: YamlFile, request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    const errors = error instanceof ApiError ? error.details?.['errors'] : undefined
    if (!Array.isArray(errors)) throw error
    const problems = errors as { path: string; message: string }[]
    throw new FileProblems(problems.map(({ path, message }) => `${file.name}: ${path.slice(1)} ${message}`))
  }
}

function ignoreMissing(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/** The server gives ids to variables and hides sensitive defaults; neither makes a definition another one. */
function isSameDefinition(published: unknown, wanted: object): boolean {
  return isDeepStrictEqual(comparable(published as object), comparable(wanted))
}

function comparable(definition: { variables?: Static<typeof VariableDefinition>[] }): object {
  const variables = (definition.variables ?? []).map(({ id: _, ...variable }) =>
    variable.sensitive ? { ...variable, default: undefined } : variable,
  )
  return { ...definition, variables }
}
