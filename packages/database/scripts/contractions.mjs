// contractions.mjs [FOLDER] — refuses migrations that would break the release before: its code runs on the new schema while a
// rollout lasts, and again after a rollback. What takes something away or makes a new demand ("contracts") comes a release
// after the code that used it went, and says so on the line before:
//
//   -- contracts: unused since 0.3.0
//
// where 0.3.0 is a release, by CHANGELOG.md, whose code no longer uses what goes.
import fs from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../../..')
/** The migration that makes the whole schema. No release ran on what was before it. */
const isBaseline = (name) => name.endsWith('_baseline')

const NAME = '(?:only\\s+)?(?:if\\s+(?:not\\s+)?exists\\s+)?((?:"[^"]+"|[\\w$]+)(?:\\.(?:"[^"]+"|[\\w$]+))?)'
const plain = (name) => name.replace(/"/g, '').split('.').at(-1).toLowerCase()

/** Cuts a script into statements at each `;` outside of quotes; comments and texts are blanked, `body` keeps what $$ holds. */
export function statements(sql) {
  const token = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|;/g
  const found = []
  let current = { text: '', body: '', comments: [], line: 1 }
  let at = 0
  const add = (text) => {
    if (current.text.trim() === '' && text.trim() !== '') current.line = lineOf(sql, at + text.search(/\S/))
    current.text += text
  }
  for (const match of sql.matchAll(token)) {
    add(sql.slice(at, match.index))
    at = match.index
    const [piece, dollar] = match
    if (piece.startsWith('--') || piece.startsWith('/*'))
      current.comments.push({ text: piece, first: !current.text.trim() })
    else if (piece.startsWith("'")) add("''")
    else if (dollar !== undefined) {
      current.body += piece
      add("''")
    } else if (piece.startsWith('"')) add(piece)
    at = match.index + piece.length
    if (piece !== ';') continue
    if (current.text.trim()) found.push(current)
    current = { text: '', body: '', comments: [], line: 1 }
  }
  add(sql.slice(at))
  if (current.text.trim()) found.push(current)
  return found
}

const lineOf = (sql, index) => sql.slice(0, index).split('\n').length

/** What one part of an ALTER TABLE demands or takes away, or null. */
function contractionOfTable(part) {
  const is = (pattern) => new RegExp(`^\\s*${pattern}`, 'i').test(part)
  if (is('drop\\s+constraint\\b')) return null
  if (is('drop\\s+(column\\b|(?!constraint\\b))')) return 'drops a column'
  if (is('rename\\s+constraint\\b')) return null
  if (is('rename\\b')) return 'renames'
  if (is('set\\s+schema\\b')) return 'moves a table to another schema'
  if (is('alter\\s+(column\\s+)?("[^"]+"|\\w+)\\s+(set\\s+data\\s+)?type\\b')) return 'changes the type of a column'
  if (is('alter\\s+(column\\s+)?("[^"]+"|\\w+)\\s+set\\s+not\\s+null\\b'))
    return 'demands a value that could be left out'
  if (is('alter\\s+(column\\s+)?("[^"]+"|\\w+)\\s+drop\\s+default\\b')) return 'takes away a default'
  if (is('(enable|force)\\s+row\\s+level\\s+security\\b')) return 'hides rows that could be seen'
  if (is('attach\\s+partition\\b|detach\\s+partition\\b')) return null
  if (is('add\\s+(constraint\\b|check\\b|unique\\b|primary\\b|foreign\\b|exclude\\b)')) return 'adds a constraint'
  if (is('add\\b')) {
    const given = /\b(default|generated|(big|small)?serial)\b/i.test(part)
    if (/\b(not\s+null|primary\s+key)\b/i.test(part) && !given)
      return 'adds a column that must have a value, without a default'
    if (/\bunique\b/i.test(part)) return 'adds a constraint'
  }
  return null
}

/** Splits at commas outside of parentheses. */
function parts(text) {
  const found = ['']
  let depth = 0
  for (const sign of text) {
    if (sign === '(') depth += 1
    if (sign === ')') depth -= 1
    if (sign === ',' && depth === 0) found.push('')
    else found[found.length - 1] += sign
  }
  return found
}

function contractionsOf({ text, body }, made) {
  const clean = text.trim().replace(/\s+/g, ' ')
  const match = (pattern) => new RegExp(`^${pattern}`, 'i').exec(clean)
  const table = match(`alter (?:foreign )?table ${NAME} (?:\\* )?(.*)$`)
  if (table) {
    if (made.has(plain(table[1]))) return []
    return parts(table[2]).map(contractionOfTable).filter(Boolean)
  }
  const dropped = match(
    `drop (table|column|view|materialized view|function|procedure|routine|aggregate|type|domain|schema|sequence|trigger|policy|rule|extension|owned)\\b (?:concurrently )?${NAME}`,
  )
  if (dropped) return made.has(plain(dropped[2])) ? [] : [`drops a ${dropped[1].toLowerCase()}`]
  const index = match(`create unique index (?:concurrently )?(?:if not exists )?(?:(?:"[^"]+"|[\\w$.]+) )?on ${NAME}`)
  if (index) {
    // The release before leaves a new column empty, so a partial index of the filled ones never has its rows.
    const filled = /\bwhere "?(\w+)"? is not null$/i.exec(clean)?.[1]?.toLowerCase()
    const isOfNewColumn = filled !== undefined && made.has(`${plain(index[1])}.${filled}`)
    return isOfNewColumn || made.has(plain(index[1])) ? [] : ['adds a constraint: a unique index']
  }
  if (match('alter (?!index\\b).* rename\\b')) return ['renames']
  if (match('alter domain .* (set not null|add)\\b')) return ['adds a constraint']
  if (match('revoke\\b')) return ['takes away a right']
  if (match('(truncate|lock)\\b')) return []
  // What a block does cannot be told from outside; what it seems to say can.
  if (match('do\\b') && /\b(drop|rename|alter|revoke)\b/i.test(body)) return ['alters something within a DO block']
  return []
}

/** What a migration makes: contracting that breaks nobody, and what is dropped to be made anew is there again at its end. */
function madeIn(all) {
  const made = new Set()
  for (const { text } of all) {
    const kind =
      '(?:or replace )?(?:temp(?:orary)? |unlogged |constraint )*(?:table|view|materialized view|function|procedure|trigger|policy|type|domain|sequence|rule)'
    const clean = text.trim().replace(/\s+/g, ' ')
    const match = new RegExp(`^create ${kind} ${NAME}`, 'i').exec(clean)
    if (match) made.add(plain(match[1]))
    const column = new RegExp(`^alter table ${NAME} add column ${NAME} [^,]*$`, 'i').exec(clean)
    if (column && !/\b(default|generated)\b/i.test(clean)) made.add(`${plain(column[1])}.${plain(column[2])}`)
  }
  return made
}

/** Whether the comments before a statement allow it; else why not. */
function objection(comments, releases) {
  const marks = comments.map(({ text }) => /contracts:\s*(.*)/i.exec(text)?.[1]?.trim()).filter(Boolean)
  const mark = marks.at(-1)
  if (mark === undefined) return 'not marked with the release that no longer uses it'
  const version = /^unused since (\d+\.\d+\.\d+)\b/.exec(mark)?.[1]
  if (version === undefined) return `marked "${mark}", which is not: unused since X.Y.Z`
  if (!releases.includes(version)) return `marked as unused since ${version}, which is no release in CHANGELOG.md`
  return null
}

export function findings(name, sql, releases) {
  const all = statements(sql)
  const made = madeIn(all)
  return all.flatMap((statement) => {
    const reasons = contractionsOf(statement, made)
    const why = reasons.length > 0 ? objection(statement.comments, releases) : null
    return why === null ? [] : reasons.map((reason) => `${name}:${statement.line}: ${reason}, and is ${why}`)
  })
}

export const releasesIn = (changelog) =>
  [...changelog.matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)].map(([, version]) => version)

function main() {
  const folder = path.resolve(process.argv[2] ?? path.join(root, 'prisma/migrations'))
  const changelog = process.argv[3] ?? path.join(root, 'CHANGELOG.md')
  const releases = releasesIn(fs.readFileSync(changelog, 'utf8'))
  const names = fs.readdirSync(folder).filter((name) => fs.existsSync(path.join(folder, name, 'migration.sql')))
  const baseline = names.find(isBaseline)
  const checked = names.filter((name) => baseline !== undefined && name > baseline).sort()
  const found = checked.flatMap((name) =>
    findings(name, fs.readFileSync(path.join(folder, name, 'migration.sql'), 'utf8'), releases),
  )
  for (const line of found) console.error(line)
  if (found.length > 0) {
    console.error('The release before must run on the new schema: see docs/decisions/0030-expand-and-contract.md')
    process.exitCode = 1
  } else
    console.log(`contractions: ${checked.length} migrations after the baseline checked, none breaks the release before`)
}

if (process.argv[1] === import.meta.filename) main()
