// Makes one file of each service and of the command line, dist/bundle.js, from what the compiler wrote and the packages it
// imports: a process then loads a few files and not a thousand, which halves the CPU of its start (goal 18 of the benchmarks).
import fs from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'

const root = path.dirname(import.meta.dirname)

// A worker thread starts from a file of its own. The code that starts the thread names this file.
const THREADS = { 'services/planner': { thread: 'dist/large/thread.js' } }

// Not bundled: native code, and swagger-ui-dist, whose files the gateway serves from their folder.
const EXTERNAL = ['bcrypt', 'ssh2', 'swagger-ui-dist', 'pg-native']

// CommonJS packages use these names, which an ES module does not have.
const BANNER = `import { createRequire as $createRequire } from 'node:module'
const require = $createRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname`

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
  const dist = path.join(root, program, 'dist')
  if (changed(path.join(dist, 'bundle.js')) > lastChange()) return
  await build({
    absWorkingDir: path.dirname(dist),
    entryPoints: { bundle: 'dist/main.js', ...THREADS[program] },
    outdir: 'dist',
    bundle: true,
    // Keeps what is loaded by import() in separate files. Prisma's query compiler alone has 4 MB.
    splitting: true,
    chunkNames: 'bundle-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: EXTERNAL,
    banner: { js: BANNER },
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  })
  // A running service may still load files of an earlier build, so they are kept for a day.
  for (const name of fs.readdirSync(dist).filter((name) => name.startsWith('bundle-'))) {
    if (changed(path.join(dist, name)) < Date.now() - DAY_MS) fs.rmSync(path.join(dist, name))
  }
}

const services = fs.readdirSync(path.join(root, 'services')).map((service) => `services/${service}`)
await Promise.all([...services, 'packages/cli'].map(bundle))
