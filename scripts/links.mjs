// Checks that links between the pages of the repository, and their anchors, lead somewhere, and that the names of tests that a
// page quotes after a link to a test file occur in this file.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: root, encoding: 'utf8' })
const pages = listed.split('\n').filter((page) => page !== '' && fs.existsSync(path.join(root, page)))
const textOf = (file) => fs.readFileSync(file, 'utf8').replace(/^```.*?^```/gms, '')

/** The anchors of the headings, as GitHub makes them. */
const anchorsOf = (file) =>
  [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

let broken = 0
for (const page of pages) {
  const file = path.join(root, page)
  for (const [, link] of textOf(file).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(link)) continue
    const [place, anchor] = link.split('#')
    const target = place === '' ? file : path.resolve(path.dirname(file), place)
    const isThere = fs.existsSync(target)
    if (isThere && (!anchor || !target.endsWith('.md') || anchorsOf(target).includes(anchor))) continue
    console.error(`${page}: ${link} leads nowhere`)
    broken += 1
  }
}

const QUOTES = /\]\(([^)\s]+\.test\.ts)\): ("[^"\n]+"(?:, "[^"\n]+")*)/g
for (const page of pages) {
  const file = path.join(root, page)
  for (const [, link, quotes] of textOf(file).matchAll(QUOTES)) {
    const tests = fs.readFileSync(path.resolve(path.dirname(file), link), 'utf8')
    for (const [, name] of quotes.matchAll(/"([^"]+)"/g)) {
      if (tests.includes(name)) continue
      console.error(`${page}: ${link} has no test "${name}"`)
      broken += 1
    }
  }
}
if (broken > 0) process.exit(1)
console.log(`links: ${pages.length} pages, no link leads nowhere, and all quoted tests exist`)
