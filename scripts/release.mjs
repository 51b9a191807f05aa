// Makes a release; docs/releasing.md says when and how, and USAGE below which options there are.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { findProblems } from './release/check.mjs'
import { provenanceOf } from './release/provenance.mjs'
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

const USAGE = `Usage: node scripts/release.mjs [OPTION], or make release ARGS=OPTION
  --set 0.2.0   writes the version wherever it stands, and dates its section of the changelog
  --check       lists what is missing for a release of the present commit
  --help        prints this text
Without an option: checks, packs, tries the package, renders the manifests, writes the bill of materials and the provenance, and tags. Pushes and publishes nothing. See docs/releasing.md.`

function readOptions() {
  try {
    const options = { set: { type: 'string' }, check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } }
    return parseArgs({ options }).values
  } catch (error) {
    console.error(`release: ${error.message}\n${USAGE}`)
    process.exit(2)
  }
}

const values = readOptions()
if (values.help) {
  console.log(USAGE)
  process.exit()
}
if (values.set !== undefined) {
  try {
    for (const file of setVersion(root, values.set)) console.log(`release: wrote ${file}`)
    process.exit()
  } catch (error) {
    console.error(`release: ${error.message}`)
    process.exit(1)
  }
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
const manifests = run(process.execPath, ['scripts/manifests.mjs']).split('\n')
const bill = path.join(root, `dist/slipway-${version}.cdx.json`)
run('pnpm', ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--prod', '--out', bill])
const { repository: place } = JSON.parse(fs.readFileSync(path.join(root, 'packages/cli/package.json'), 'utf8'))
const repository = place.url.replace(/^git\+/, '')
const statement = provenanceOf([...[tarball, ...manifests].map((file) => path.resolve(root, file)), bill], {
  repository,
  commit: run('git', ['rev-parse', 'HEAD']),
  version,
})
fs.writeFileSync(path.join(root, `dist/slipway-${version}.provenance.json`), `${JSON.stringify(statement, null, 2)}\n`)
console.log(`release: wrote the manifests, the bill of materials and the provenance to dist/`)
run('git', ['tag', '--annotate', `v${version}`, '--message', `Slipway ${version}`])
console.log(`release: tagged v${version}. Nothing is pushed or published; the next commands are yours:
  git push origin v${version}
  npm publish ${path.relative(root, tarball)}     # in the release pipeline: provenance needs its identity`)
