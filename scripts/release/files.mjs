// The files of a release. Two builds of one commit have the same packages, chart, manifests and action, byte by byte.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { chartFolder, findHelm, renderManifests } from '../helm.mjs'
import { findSection } from './changelog.mjs'
import { provenanceOf } from './provenance.mjs'

/**
 * Writes all files of a release to an empty folder.
 * @param images the names of the images, or none for no image
 * @param say is called with a sentence after each step
 */
export function writeRelease({ root, out, version, images, isSnapshot, say }) {
  const run = (command, ...args) =>
    execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
  const commit = run('git', 'rev-parse', 'HEAD')
  const time = new Date(run('git', 'log', '-1', '--format=%cI'))
  const file = (name) => path.join(out, name)

  for (const name of ['cli', 'client']) run(process.execPath, `scripts/package-${name}.mjs`, '--out', out)
  say('packed the command line and the client')
  writeAction(root, file('action'))
  say('wrote the action')
  packChart(out, time)
  renderManifests(out, version)
  say('packed the chart and rendered the manifests')
  if (images.length > 0) {
    fs.mkdirSync(file('images'))
    execFileSync('scripts/images.sh', ['--archives', file('images'), ...images], { cwd: root, stdio: ['ignore', 2, 2] })
    say(`built ${images.length === 1 ? 'the image' : 'the images'} of ${images.join(', ')}`)
  }
  const bill = file(`slipway-${version}.cdx.json`)
  run('pnpm', 'sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--prod', '--out', bill)
  const sections = [version, 'Unreleased'].map((name) => findSection(root, name).text)
  const text = sections.find((one) => one !== '') ?? 'No notes.'
  fs.writeFileSync(file('RELEASE-NOTES.md'), `# Slipway ${version}\n\n${text}\n`)
  const { repository } = JSON.parse(fs.readFileSync(path.join(root, 'packages/cli/package.json'), 'utf8'))
  const subjects = listFiles(out).map((name) => ({ name, digest: { sha256: sha256(file(name)) } }))
  const statement = provenanceOf(subjects, {
    repository: repository.url.replace(/^git\+/, ''),
    commit,
    ref: isSnapshot ? commit : `v${version}`,
    version,
  })
  fs.writeFileSync(file(`slipway-${version}.provenance.json`), `${JSON.stringify(statement, null, 2)}\n`)
  const sums = listFiles(out).map((name) => `${sha256(file(name))}  ${name}\n`)
  fs.writeFileSync(file('SHA256SUMS'), sums.join(''))
  say('wrote the notes, the bill of materials, the provenance and the checksums')
}

/** Writes the folder that is published as the GitHub Action: its source, with the command line. */
function writeAction(root, folder) {
  fs.cpSync(path.join(root, 'deploy/action'), folder, { recursive: true })
  const program = path.join(folder, 'slipway')
  execFileSync(process.execPath, ['scripts/package-cli.mjs', '--unpacked', program], { cwd: root })
  fs.renameSync(path.join(program, 'THIRD-PARTY-LICENSES'), path.join(folder, 'THIRD-PARTY-LICENSES'))
  fs.renameSync(path.join(program, 'LICENSE'), path.join(folder, 'LICENSE'))
  // Many repositories ignore folders of this name, and a copy of the action without its program would fail in a job.
  fs.writeFileSync(path.join(program, '.gitignore'), '!dist/\n')
}

/** Packs the chart without its links, with the time of the commit for every file. */
function packChart(out, time) {
  const below = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-chart-'))
  try {
    const chart = path.join(below, 'slipway')
    fs.cpSync(chartFolder, chart, { recursive: true, dereference: true })
    for (const name of listFiles(chart)) fs.utimesSync(path.join(chart, name), time, time)
    execFileSync(findHelm(), ['package', chart, '--destination', out], { stdio: ['ignore', 'ignore', 'inherit'] })
  } finally {
    fs.rmSync(below, { recursive: true, force: true })
  }
}

/** Lists all files below a folder, with their paths in it. */
function listFiles(folder) {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))).sort()
}

function sha256(file) {
  const hash = createHash('sha256')
  const chunk = Buffer.alloc(2 ** 20)
  const opened = fs.openSync(file, 'r')
  try {
    // Images are larger than a Buffer may be on some machines.
    for (let size = fs.readSync(opened, chunk); size > 0; size = fs.readSync(opened, chunk)) {
      hash.update(chunk.subarray(0, size))
    }
  } finally {
    fs.closeSync(opened)
  }
  return hash.digest('hex')
}
