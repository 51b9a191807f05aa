import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'
import { build } from 'esbuild'
import type { Mutant } from './mutants.ts'

// Not bundled: native code, and files that the gateway serves from their folder.
const EXTERNAL = ['bcrypt', 'ssh2', 'swagger-ui-dist', 'pg-native']
const SERVICES = ['gateway', 'planner', 'dispatcher', 'executor-bridge', 'log-stream', 'orchestration-instance']
const THREADS: Record<string, Record<string, string>> = { planner: { thread: 'src/large/thread.ts' } }

/**
 * The text of a source file with the fault.
 * @throws Error if a text to replace does not occur exactly once
 */
export function mutate({ id, file, edits }: Mutant): string {
  const source = fs.readFileSync(path.join(repositoryRoot, file), 'utf8')
  return edits.reduce((text, [find, replace]) => {
    const count = text.split(find).length - 1
    if (count !== 1) throw new Error(`mutant ${id}: ${file} has ${count} times: ${find}`)
    return text.replace(find, () => replace)
  }, source)
}

/** Bundles all services from their sources, one file of which has the fault. Returns the folder for `startSuite`. */
export async function buildMutant(mutant: Mutant, options: object): Promise<string> {
  const folder = path.join('.slipway/mutants', mutant.id)
  const mutated = path.join(repositoryRoot, mutant.file)
  const contents = mutate(mutant)
  for (const service of SERVICES) {
    const [own, made] = [path.join(repositoryRoot, 'services', service), path.join(folder, 'services', service)]
    const place = path.join(repositoryRoot, made)
    fs.rmSync(place, { recursive: true, force: true })
    fs.mkdirSync(place, { recursive: true })
    for (const name of ['node_modules', 'package.json']) fs.symlinkSync(path.join(own, name), path.join(place, name))
    const isMutated = !mutant.file.startsWith('services/') || mutant.file.startsWith(`services/${service}/`)
    if (!isMutated) {
      fs.symlinkSync(path.join(own, 'dist'), path.join(place, 'dist'))
      continue
    }
    await build({
      ...options,
      absWorkingDir: own,
      entryPoints: { bundle: 'src/main.ts', ...THREADS[service] },
      outdir: path.join(place, 'dist'),
      conditions: ['@slipway/source'],
      external: EXTERNAL,
      plugins: [
        {
          name: 'mutant',
          setup({ onLoad }) {
            onLoad({ filter: /\.ts$/ }, ({ path: file }) => (file === mutated ? { contents, loader: 'ts' } : null))
          },
        },
      ],
    })
  }
  return folder
}
