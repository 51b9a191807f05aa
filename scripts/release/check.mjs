import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { findOtherVersions } from './version.mjs'

/** Lists what is missing for a release of the present commit, as sentences. */
export function findProblems(root, version) {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const problems = []
  const changes = git('status', '--porcelain')
  if (changes !== '') problems.push(`the tree is not clean; commit or remove:\n${changes}`)
  for (const other of findOtherVersions(root, version))
    problems.push(`${other}, not ${version}; run node scripts/release.mjs --set ${version}`)
  if (git('tag', '--list', `v${version}`) !== '')
    problems.push(`the tag v${version} exists; run node scripts/release.mjs --set VERSION with the next version`)
  problems.push(...findChangelogProblems(fs.readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'), version))
  return problems
}

function findChangelogProblems(changelog, version) {
  const sections = [...changelog.matchAll(/^## \[([^\]]+)\](.*)\n([\s\S]*?)(?=^## \[|(?![\s\S]))/gm)]
  const [, , date = '', text = ''] = sections.find(([, name]) => name === version) ?? []
  if (text.trim() === '') return [`CHANGELOG.md has no section "## [${version}] - DATE" with text`]
  if (!/^ - \d{4}-\d\d-\d\d$/.test(date)) return [`CHANGELOG.md: the section of ${version} has no date`]
  return []
}
