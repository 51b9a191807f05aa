// Makes a release; docs/releasing.md says when and how.
//   node scripts/release.mjs --set 0.2.0    writes the version wherever it stands, and dates its section of the changelog
//   node scripts/release.mjs --check        tells what is missing for a release of the present commit
//   node scripts/release.mjs                checks, packs, tries the package, and tags. It pushes and publishes nothing.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { findProblems } from './release/check.mjs'
import { readVersion, setVersion } from './release/version.mjs'

const root = path.dirname(import.meta.dirname)
const run = (command, args, options = {}) =>
  execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...options }).trim()

/** Installs the tarball without the network, as a user does, and calls both of its parts. */
function tryPackage(tarball, version) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-release-'))
  try {
    run('npm', ['install', '-g', '--prefix', folder, '--offline', '--no-audit', '--no-fund', tarball])
    const printed = run(path.join(folder, 'bin/slipway'), ['--version'])
    if (printed !== version) throw new Error(`slipway of the package says that it is ${printed}, not ${version}`)
    const client = path.join(folder, 'lib/node_modules/@slipway/cli/client/index.js')
    run(process.execPath, [
      '-e',
      `import(${JSON.stringify(client)}).then((all) => new all.SlipwayClient({ url: 'http://x' }))`,
    ])
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const { values } = parseArgs({ options: { set: { type: 'string' }, check: { type: 'boolean' } } })
if (values.set !== undefined) {
  for (const file of setVersion(root, values.set)) console.log(`release: wrote ${file}`)
  process.exit()
}

const version = readVersion(root)
const problems = findProblems(root, version)
for (const problem of problems) console.error(`release: ${problem}`)
if (problems.length > 0) process.exit(1)
console.log(`release: ${version} has all that a release needs`)
if (values.check) process.exit()

const tarball = run(process.execPath, ['scripts/package-cli.mjs'])
tryPackage(tarball, version)
console.log(`release: ${tarball} installs without the network, and works`)
run('git', ['tag', '--annotate', `v${version}`, '--message', `Slipway ${version}`])
console.log(`release: tagged v${version}. Nothing is pushed or published; the next commands are yours:
  git push origin v${version}
  npm publish ${path.relative(root, tarball)}     # in the release pipeline: provenance needs its identity`)
