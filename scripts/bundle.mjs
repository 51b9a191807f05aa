// Makes one file of each service and of the command line, dist/bundle.js, from what the compiler wrote and the packages it
// imports: a process then loads a few files and not a thousand, which halves the CPU of its start (goal 18 of the benchmarks).
import fs from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'

const root = path.dirname(import.meta.dirname)

// A thread is loaded by a file name of its own, which the code that starts it names.
const THREADS = { 'services/planner': { thread: 'dist/large/thread.js' } }

// Read from their own folders at run time: native code, and the files of the page that shows the API.
const EXTERNAL = ['bcrypt', 'ssh2', 'swagger-ui-dist', 'pg-native']

// What packages in the older module format expect to find.
const BANNER = `import { createRequire as $createRequire } from 'node:module'
const require = $createRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname`

const DAY_MS = 86_400_000

const changed = (file) => (fs.existsSync(file) ? fs.statSync(file).mtimeMs : 0)

/** When the compiler last wrote anything, or a package changed its version. */
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
    // What is imported only when it is needed stays in files of its own: the compiler of queries alone has 4 MB.
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
  // Files of earlier builds stay for a day: a service that runs may still load them.
  for (const name of fs.readdirSync(dist).filter((name) => name.startsWith('bundle-'))) {
    if (changed(path.join(dist, name)) < Date.now() - DAY_MS) fs.rmSync(path.join(dist, name))
  }
}

const services = fs.readdirSync(path.join(root, 'services')).map((service) => `services/${service}`)
await Promise.all([...services, 'packages/cli'].map(bundle))
