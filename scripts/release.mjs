// Makes a release; docs/releasing.md says when and how, and USAGE below which options there are.
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { findProblems } from './release/check.mjs'
import { writeRelease } from './release/files.mjs'
import { readVersion, setVersion } from './release/version.mjs'

const root = path.dirname(import.meta.dirname)

const USAGE = `Usage: node scripts/release.mjs [OPTION...], or make release ARGS='OPTION...'
  --set 0.2.0        writes the version wherever it stands, and dates its section of the changelog
  --check            lists what is missing for a release of the present commit
  --snapshot         makes the files of the present state, whatever it lacks for a release, and tags nothing
  --images NAMES     only these images, separated by commas; --images none where other machines build them
  --out FOLDER       writes to an empty folder instead of dist
  --help             prints this text
Without --set, --check and --snapshot: checks, writes all files of the release to dist, which it empties first, and tags. Pushes and
publishes nothing. See docs/releasing.md.`

function readOptions() {
  try {
    const options = {
      set: { type: 'string' },
      check: { type: 'boolean' },
      snapshot: { type: 'boolean' },
      images: { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    }
    return parseArgs({ options }).values
  } catch (error) {
    console.error(`release: ${error.message}\n${USAGE}`)
    process.exit(2)
  }
}

function stop(...problems) {
  for (const problem of problems) console.error(`release: ${problem}`)
  process.exit(1)
}

const listImages = () => ['migrate', 'cli', ...fs.readdirSync(path.join(root, 'services')).sort()]

/** Returns why this machine cannot build images, as sentences. */
function findImageProblems() {
  const { status, stderr } = spawnSync('scripts/images.sh', ['--check'], { cwd: root, encoding: 'utf8' })
  return status === 0 ? [] : [`${stderr.trim()}. To make a release without images: --images none`]
}

/** Returns the folder for the files, which is empty then. */
function prepareFolder(given) {
  const out = path.resolve(given ?? path.join(root, 'dist'))
  if (given === undefined) fs.rmSync(out, { recursive: true, force: true })
  else if (fs.existsSync(out) && fs.readdirSync(out).length > 0) stop(`--out: ${out} is not empty`)
  fs.mkdirSync(out, { recursive: true })
  return out
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
    stop(error.message)
  }
}

const version = readVersion(root)
const images = values.images === 'none' ? [] : (values.images?.split(',') ?? listImages())
const unknown = images.filter((name) => !listImages().includes(name))
if (unknown.length > 0) stop(`there is no image ${unknown.join(', ')}; there are: ${listImages().join(', ')}`)
const problems = [
  ...(values.snapshot ? [] : findProblems(root, version)),
  ...(images.length > 0 ? findImageProblems() : []),
]
if (problems.length > 0) stop(...problems)
if (!values.snapshot) console.log(`release: ${version} has all that a release needs`)
if (values.check) process.exit()

const out = prepareFolder(values.out)
const started = Date.now()
const say = (sentence) => console.log(`release: ${sentence} (${Math.round((Date.now() - started) / 1_000)} s)`)
writeRelease({ root, out, version, images, isSnapshot: values.snapshot === true, say })
const folder = path.relative(process.cwd(), out)
if (values.snapshot) {
  console.log(`release: a snapshot of ${version} is in ${folder}. Nothing is tagged`)
  process.exit()
}
execFileSync('git', ['tag', '--annotate', `v${version}`, '--message', `Slipway ${version}`], { cwd: root })
console.log(`release: tagged v${version}. Nothing is pushed or published; docs/releasing.md has the next commands, from here:
  git push origin v${version}`)
