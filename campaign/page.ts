// The parts of docs/resilience.md that programs write.
import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'

const PAGE = path.join(repositoryRoot, 'docs/resilience.md')

/**
 * Replaces the text between the two marks of a section.
 * @throws Error if the page has no such section
 */
export function writeSection(name: string, text: string): void {
  const page = fs.readFileSync(PAGE, 'utf8')
  const [begin, end] = [`<!-- ${name}: written by a program -->`, `<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/resilience.md lacks the marks ${begin} and ${end}`)
  fs.writeFileSync(PAGE, `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`)
}

/** Columns as wide as the formatter of the repository makes them. */
export function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) =>
    Math.max(3, ...[head, ...rows].map((row) => (row[column] ?? title).length)),
  )
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
