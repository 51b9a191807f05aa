import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import type { ActionDefinition, Static, VariableDefinition } from '@slipway/contracts'
import { ActionFile, DeploymentFile, EnvironmentFile, SolutionFile, TargetsFile } from './schemas.ts'
import { FileProblems, readText, YamlFile } from './yaml-file.ts'

/** A directory that says what is deployed, where and how. */
export interface Release {
  directory: string
  /** By the name of the file without its ending. */
  actions: Map<string, { file: YamlFile<ActionFile>; definition: Static<typeof ActionDefinition> }>
  solution: YamlFile<SolutionFile>
  environment: YamlFile<EnvironmentFile> | null
  targets: YamlFile<TargetsFile>
  deployment: YamlFile<DeploymentFile>
}

type ScriptPlace = { script?: string; script_file?: string }

/** Reads and checks every file of the directory. Throws FileProblems with all that is wrong in all of them. */
export function loadRelease(directory: string): Release {
  if (!existsSync(path.join(directory, 'solution.yaml'))) {
    throw new FileProblems([`${directory}: there is no solution.yaml, so it is no directory to deploy from`])
  }
  const found = new Findings()
  const solution = found.collect(() => YamlFile.read<SolutionFile>(directory, 'solution.yaml', SolutionFile))
  const targets = found.collect(() => YamlFile.read<TargetsFile>(directory, 'targets.yaml', TargetsFile))
  const deployment = found.collect(() => YamlFile.read<DeploymentFile>(directory, 'deployment.yaml', DeploymentFile))
  const environment = existsSync(path.join(directory, 'environment.yaml'))
    ? found.collect(() => YamlFile.read<EnvironmentFile>(directory, 'environment.yaml', EnvironmentFile))
    : null
  const actions: Release['actions'] = new Map()
  for (const name of actionNames(directory)) {
    const action = found.collect(() => readAction(directory, name))
    if (action) actions.set(name, action)
  }
  if (solution) found.add(unknownActions(solution, actionNames(directory)))
  if (targets) found.add(repeatedNames(targets))
  found.throwIfAny()
  return { directory, actions, solution, environment, targets, deployment } as Release
}

/** The definitions of all variables that the release declares, lowest layer first. */
export function declaredVariables({ actions, solution }: Release): Static<typeof VariableDefinition>[] {
  return [
    ...[...actions.values()].flatMap(({ definition }) => definition.variables ?? []),
    ...solution.value.sequences.flatMap(({ variables }) => variables ?? []),
    ...(solution.value.variables ?? []),
  ]
}

class Findings {
  readonly #problems: string[] = []

  add(problems: readonly string[]): void {
    this.#problems.push(...problems)
  }

  collect<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof FileProblems)) throw error
      this.add(error.problems)
      return undefined
    }
  }

  throwIfAny(): void {
    if (this.#problems.length > 0) throw new FileProblems(this.#problems)
  }
}

function actionNames(directory: string): string[] {
  const folder = path.join(directory, 'actions')
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  return files.map((name) => name.slice(0, -'.yaml'.length)).sort()
}

function readAction(directory: string, name: string) {
  const file = YamlFile.read<ActionFile>(directory, `actions/${name}.yaml`, ActionFile)
  const { script: _, script_file: __, rollback, ...rest } = file.value.definition
  const found = new Findings()
  const script = found.collect(() => scriptOf(directory, file, '/definition', file.value.definition))
  const undo = rollback && found.collect(() => scriptOf(directory, file, '/definition/rollback', rollback))
  found.throwIfAny()
  const definition = { ...rest, script, ...(undo === undefined ? {} : { rollback: { script: undo } }) }
  return { file, definition: definition as Static<typeof ActionDefinition> }
}

function scriptOf(directory: string, file: YamlFile, pointer: string, { script, script_file }: ScriptPlace): string {
  if ((script === undefined) === (script_file === undefined)) {
    throw new FileProblems([file.problem(pointer, 'needs either script or script_file')])
  }
  if (script_file === undefined) return script as string
  const name = path.join(path.dirname(file.name), script_file)
  try {
    return readText(directory, name)
  } catch {
    throw new FileProblems([file.problem(`${pointer}/script_file`, `names ${name}, which cannot be read`)])
  }
}

function unknownActions(solution: YamlFile<SolutionFile>, known: readonly string[]): string[] {
  return solution.value.sequences.flatMap(({ actions }, s) =>
    actions.flatMap(({ action }, a) =>
      known.includes(action)
        ? []
        : [
            solution.problem(
              `/sequences/${s}/actions/${a}/action`,
              `is "${action}", but there is no actions/${action}.yaml (there are: ${known.join(', ') || 'none'})`,
            ),
          ],
    ),
  )
}

function repeatedNames(targets: YamlFile<TargetsFile>): string[] {
  const names = targets.value.map(({ name }) => name)
  return names.flatMap((name, n) =>
    names.indexOf(name) === n ? [] : [targets.problem(`/${n}/name`, `is "${name}", like that of another target`)],
  )
}
