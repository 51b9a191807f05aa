import fs from 'node:fs'
import path from 'node:path'

const SECTION = /^## \[([^\]]+)\](.*)\n([\s\S]*?)(?=^## \[|(?![\s\S]))/gm

/** Finds the section of a version, or the one named Unreleased: { date, text }. The text is empty if there is none. */
export function findSection(root, name) {
  const changelog = fs.readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')
  const [, , heading = '', text = ''] = [...changelog.matchAll(SECTION)].find(([, found]) => found === name) ?? []
  return { date: /^ - (\d{4}-\d\d-\d\d)$/.exec(heading)?.[1], text: text.trim() }
}
