// Writes the list of the rules into docs/analysis.md, from the rules themselves: node packages/domain/scripts/rules-table.mjs
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const PAGE = fileURLToPath(new URL('../../../docs/analysis.md', import.meta.url))
const BEGIN = '<!-- rules: begin -->'
const END = '<!-- rules: end -->'

/** The page with the list of these rules in the place of the one that it has. */
export function withRules(page, areas, rules) {
  const [head, tail] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (head < 0 || tail < head) throw new Error(`${PAGE} has no place for the list: ${BEGIN} … ${END}`)
  return `${page.slice(0, head + BEGIN.length)}\n\n${listOf(areas, rules)}\n${page.slice(tail)}`
}

function listOf(areas, rules) {
  return areas
    .map(
      (area) =>
        `${section(
          area,
          rules.filter((rule) => rule.area === area),
        )}\n`,
    )
    .join('\n')
}

function section(area, rules) {
  const rows = rules.map(({ id, title, exitCodes, pattern, reason, confidence }) => {
    const code = exitCodes ? `exit code ${exitCodes.join(', ')}` : null
    const by = [pattern ? 'words' : null, reason ? 'reason' : null, code].filter((one) => one !== null).join(', ')
    return `| \`${id}\` | ${title.replace('{what}', '…').replaceAll('|', '\\|')} | ${by} | ${confidence} |`
  })
  const name = area.charAt(0).toUpperCase() + area.slice(1)
  return [
    `### ${name}`,
    '',
    '| rule | what it says | known by | confidence |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { AREAS, RULES } = await import('../dist/analysis/index.js')
  writeFileSync(PAGE, withRules(readFileSync(PAGE, 'utf8'), AREAS, RULES))
}
