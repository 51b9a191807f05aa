// Makes one file of each service and of the command line, dist/bundle.js, from what the compiler wrote and the packages it
// imports: a process then loads a few files and not a thousand, which halves the CPU of its start (goal: footprint of the processes).
// With --failpoints: the services with their failpoints, into .slipway/failpoints, for the campaign that kills them.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { build } from 'esbuild'
import { NODE_BUNDLE, NODE_BUNDLE_WITH_FAILPOINTS } from './bundle-options.mjs'

const root = path.dirname(import.meta.dirname)

// A worker thread starts from a file of its own. The code that starts the thread names this file.
const THREADS = {
  'services/gateway': { 'reading-thread': '../../packages/scripts/dist/reading-thread.js' },
}

// Grammars that the reading thread loads from its own folder. Their packages hold 20 MB of sources, which no service needs.
const GRAMMARS = {
  'services/gateway': [
    'web-tree-sitter/web-tree-sitter.wasm',
    'tree-sitter-bash/tree-sitter-bash.wasm',
    'tree-sitter-javascript/tree-sitter-javascript.wasm',
    'tree-sitter-powershell/tree-sitter-powershell.wasm',
    'tree-sitter-python/tree-sitter-python.wasm',
  ],
}
const fromScripts = createRequire(path.join(root, 'packages/scripts/package.json'))

// The entry of the command line is a file of its own, so that tests can import its main.ts without running it.
const ENTRIES = { 'packages/cli': 'dist/executable.js' }

// Not bundled: native code, and swagger-ui-dist, whose files the gateway serves from their folder.
const EXTERNAL = ['bcrypt', 'ssh2', 'swagger-ui-dist', 'pg-native']

const failpoints = process.argv.includes('--failpoints')

const DAY_MS = 86_400_000

const changed = (file) => (fs.existsSync(file) ? fs.statSync(file).mtimeMs : 0)

/** The time of the last compilation or change of dependencies. */
function lastChange() {
  const built = ['packages', 'services'].flatMap((kind) =>
    fs.readdirSync(path.join(root, kind)).map((name) => path.join(root, kind, name, 'dist/.tsbuildinfo')),
  )
  return Math.max(...[...built, path.join(root, 'pnpm-lock.yaml'), import.meta.filename].map(changed))
}

async function bundle(program) {
  const dist = failpoints ? besideServices(program) : path.join(root, program, 'dist')
  if (changed(path.join(dist, 'bundle.js')) > lastChange()) return
  await build({
    absWorkingDir: path.join(root, program),
    entryPoints: { bundle: ENTRIES[program] ?? 'dist/main.js', ...THREADS[program] },
    outdir: dist,
    ...(failpoints ? NODE_BUNDLE_WITH_FAILPOINTS : NODE_BUNDLE),
    external: EXTERNAL,
    sourcemap: true,
    sourcesContent: false,
  })
  for (const file of GRAMMARS[program] ?? []) {
    fs.copyFileSync(fromScripts.resolve(file), path.join(dist, path.basename(file)))
  }
  // A running service may still load files of an earlier build, so they are kept for a day.
  for (const name of fs.readdirSync(dist).filter((name) => name.startsWith('bundle-'))) {
    if (changed(path.join(dist, name)) < Date.now() - DAY_MS) fs.rmSync(path.join(dist, name))
  }
}

/** A folder that is to the service's packages and manifest as dist/ is. */
function besideServices(program) {
  const folder = path.join(root, '.slipway/failpoints', program)
  fs.mkdirSync(folder, { recursive: true })
  for (const name of ['node_modules', 'package.json']) {
    fs.rmSync(path.join(folder, name), { force: true })
    fs.symlinkSync(path.join(root, program, name), path.join(folder, name))
  }
  return path.join(folder, 'dist')
}

const services = fs.readdirSync(path.join(root, 'services')).map((service) => `services/${service}`)
await Promise.all((failpoints ? services : [...services, 'packages/cli']).map(bundle))
