import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { repositoryFiles, repositoryRoot } from '@slipway/testing'
import type { Mutant } from './mutants.ts'

/**
 * The text of a source file with the fault.
 * @throws Error if a text to replace does not occur exactly once
 */
export function mutate({ id, file, edits }: Mutant, root = repositoryRoot): string {
  const source = fs.readFileSync(path.join(root, file), 'utf8')
  return edits.reduce((text, [find, replace]) => {
    const count = text.split(find).length - 1
    if (count !== 1) throw new Error(`mutant ${id}: ${file} has ${count} times: ${find}`)
    return text.replace(find, () => replace)
  }, source)
}

/** A copy of the working tree in which faults are planted. It shares the packages of others with the tree. */
export class TreeCopy {
  readonly root: string
  /** Relative to the repository, as `startSuite` expects it. */
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
    this.root = path.join(repositoryRoot, folder)
    fs.rmSync(this.root, { recursive: true, force: true })
    for (const file of repositoryFiles()) this.#copy(file)
    this.#copy('packages/database/src/generated')
    // Links to packages of the workspace are relative: in the copy they lead to the copy.
    for (const workspace of workspaces()) this.#copy(path.join(workspace, 'node_modules'))
    this.#linkPackages()
    // Tests ask Git for the files of the repository.
    this.#run('git', ['init', '-q'])
  }

  /** Does the work while one source has the fault. */
  async whilePlanted<T>(mutant: Mutant, work: () => Promise<T>): Promise<T> {
    const file = path.join(this.root, mutant.file)
    const source = fs.readFileSync(file)
    fs.writeFileSync(file, mutate(mutant, this.root))
    try {
      return await work()
    } finally {
      fs.writeFileSync(file, source)
    }
  }

  /** Compiles and bundles the sources as they are now: some tests start a service as a process. */
  build(): void {
    const isFirst = !fs.existsSync(path.join(this.root, 'packages/domain/dist'))
    // The compiler then compiles only what has changed.
    if (isFirst) for (const workspace of workspaces()) this.#copy(path.join(workspace, 'dist'))
    this.#run('node_modules/.bin/tsc', ['-b'])
    this.#run(process.execPath, ['scripts/bundle.mjs'])
  }

  #run(program: string, args: string[]): void {
    execFileSync(program, args, { cwd: this.root, stdio: ['ignore', 'inherit', 'inherit'] })
  }

  #copy(name: string): void {
    const from = path.join(repositoryRoot, name)
    if (!fs.existsSync(from)) return
    fs.cpSync(from, path.join(this.root, name), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  }

  #linkPackages(): void {
    const [from, to] = [path.join(repositoryRoot, 'node_modules'), path.join(this.root, 'node_modules')]
    fs.mkdirSync(to)
    for (const name of fs.readdirSync(from)) {
      if (name === '@slipway') this.#copy(path.join('node_modules', name))
      else fs.symlinkSync(path.join(from, name), path.join(to, name))
    }
  }
}

function workspaces(): string[] {
  const parts = ['packages', 'services'].flatMap((kind) =>
    fs.readdirSync(path.join(repositoryRoot, kind)).map((name) => path.join(kind, name)),
  )
  return [...parts, 'tests/support']
}
