import { execFileSync } from 'node:child_process'
import { findSection } from './changelog.mjs'
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
  const { date, text } = findSection(root, version)
  if (text === '') problems.push(`CHANGELOG.md has no section "## [${version}] - DATE" with text`)
  else if (date === undefined) problems.push(`CHANGELOG.md: the section of ${version} has no date`)
  return problems
}
