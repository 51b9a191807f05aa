// The version stands in the package.json of the root. It is repeated where a tool reads a file of its own.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const VERSION = '\\d+\\.\\d+\\.\\d+(?:-[\\w.]+)?'
/** How the version stands in the text of manifests and pages. */
const MENTIONS = new RegExp(
  `(\\bslipway/[a-z-]+:|\\bSLIPWAY_IMAGE_TAG:-|\\bslipway-(?:cli|client)-)(${VERSION})(?=[^\\w.-]|\\.tgz|$)`,
  'gm',
)
const CHART_MENTIONS = new RegExp(`^((?:appVersion|version): "?)(${VERSION})`, 'gm')
const MENTIONING = ['deploy', 'docs/*.md', 'docker-compose.yml', 'examples/pipelines']
const mentionsIn = (file) => (path.basename(file) === 'Chart.yaml' ? CHART_MENTIONS : MENTIONS)

const read = (root, file) => fs.readFileSync(path.join(root, file), 'utf8')
const list = (root, ...globs) =>
  execFileSync('git', ['ls-files', '-z', '--', ...globs], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter(Boolean)

const listManifests = (root) => [
  'package.json',
  ...list(root, 'packages/*/package.json', 'services/*/package.json', 'tests/support/package.json'),
]
// The Helm chart has links to folders; what they lead to is listed by itself.
const listMentioning = (root) =>
  list(root, ...MENTIONING).filter((file) => fs.lstatSync(path.join(root, file)).isFile())

export const readVersion = (root) => JSON.parse(read(root, 'package.json')).version

/** Lists the places that name another version, as sentences. */
export function findOtherVersions(root, version) {
  const manifests = listManifests(root).map((file) => [file, JSON.parse(read(root, file)).version])
  const mentions = listMentioning(root).flatMap((file) =>
    [...read(root, file).matchAll(mentionsIn(file))].map((match) => [file, match[2]]),
  )
  const others = [...manifests, ...mentions].filter(([, found]) => found !== version)
  return [...new Set(others.map(([file, found]) => `${file} has the version ${found}`))]
}

/** Writes the version wherever it stands, and turns what is unreleased into its section. Returns the changed files. */
export function setVersion(root, version, today = new Date().toISOString().slice(0, 10)) {
  if (!new RegExp(`^${VERSION}$`).test(version)) throw new Error(`"${version}" is no version: write it like 1.2.0`)
  const changed = []
  const edit = (file, change) => {
    const before = read(root, file)
    const after = change(before)
    if (after === before) return
    fs.writeFileSync(path.join(root, file), after)
    changed.push(file)
  }
  for (const file of listManifests(root))
    edit(file, (text) => text.replace(/^( {2}"version": )"[^"]*"/m, `$1"${version}"`))
  for (const file of listMentioning(root)) edit(file, (text) => text.replace(mentionsIn(file), `$1${version}`))
  edit('CHANGELOG.md', (text) =>
    text.includes(`\n## [${version}]`)
      ? text
      : text.replace(/^## \[Unreleased\]\n/m, `## [Unreleased]\n\n## [${version}] - ${today}\n`),
  )
  return changed
}
