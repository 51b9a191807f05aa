// node bench/document.mjs — writes what bench/results hold into docs/performance.md, between its marks, and a plot beside it.
// Of each line the newest result of enough rounds counts: a run may be of some goals only.
import fs from 'node:fs'
import path from 'node:path'
import { plot } from './plot.mjs'

const root = path.resolve(import.meta.dirname, '..')
const folder = path.join(root, 'bench/results')
const page = path.join(root, 'docs/performance.md')
const [BEGIN, END] = ['<!-- results: written by bench/document.mjs -->', '<!-- end of results -->']

/** What fewer rounds say is no verdict. */
const FEW = 3

const runs = fs
  .readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .map((name) => ({ name: name.replace('.json', ''), ...JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) }))

const newest = new Map()
for (const run of runs) {
  for (const entry of run.report) {
    const before = newest.get(entry.what)
    // A short run, to try something, takes nothing away from one that counts.
    if (before === undefined || run.rounds >= Math.min(FEW, before.run.rounds))
      newest.set(entry.what, { ...entry, run })
  }
}
const all = [...newest.values()]
// Figures behind the ratios have no goal of their own.
const goals = all.filter(({ goal, limit }) => goal !== '' && limit).sort((a, b) => a.goal - b.goal)
const figures = all.filter(({ goal, limit }) => goal === '' || !limit)
const used = runs.filter((run) => all.some((entry) => entry.run === run))

const number = (value) => (value >= 1_000 ? Math.round(value).toLocaleString('en-US') : String(value))
const spread = (text) => (text ? ` (${text})` : '')

const verdict = (met, { rounds }) => (rounds < FEW ? `open: ${rounds} round` : met ? 'yes' : '**no**')

/** In the form of our formatter: columns as wide as their widest cell. */
function table(head, rows) {
  const cells = [head, ...rows].map((row) => row.map(String))
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)))
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  const [first, ...others] = cells
  return [line(first), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others.map(line)].join('\n')
}

const text = [
  BEGIN,
  '',
  '![How far from its goal each figure is](performance.svg)',
  '',
  table(
    ['goal', 'what', 'goal', 'measured (spread)', 'met', 'run'],
    goals.map(({ goal, what, limit, ratio, spread: range, met, run }) => {
      return [goal, what, limit, `${number(ratio)}${spread(range)}`, verdict(met, run), run.name]
    }),
  ),
  '',
  'Where a line says "of", the figure is a ratio to that floor or peer, measured in turns with it in the same run. The runs:',
  '',
  table(
    ['run', 'rounds', 'machine', 'load average'],
    used.map(({ name, rounds, seconds, machine }) => {
      const load = machine.load.map((value) => value.toFixed(1)).join(', ')
      return [name, `${rounds} of ${seconds} s`, `${machine.cpus} × ${machine.model}, Node ${machine.node}`, load]
    }),
  ),
  '',
  'Behind these ratios:',
  '',
  table(
    ['what', 'measured', 'run'],
    figures.map(({ what, ratio, run }) => [what, number(ratio), run.name]),
  ),
  '',
  END,
].join('\n')

const before = fs.readFileSync(page, 'utf8')
const [from, to] = [before.indexOf(BEGIN), before.indexOf(END)]
if (from < 0 || to < from) throw new Error(`${page} has not both marks: ${BEGIN} and ${END}`)
fs.writeFileSync(page, before.slice(0, from) + text + before.slice(to + END.length))
fs.writeFileSync(page.replace(/\.md$/, '.svg'), plot(goals))
const judged = goals.filter(({ run }) => run.rounds >= FEW)
const count = `${judged.filter(({ met }) => met).length} of ${judged.length} goals met`
console.log(`docs/performance.md: ${count}, ${goals.length - judged.length} open, from ${used.length} runs`)
