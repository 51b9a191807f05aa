// Checks which part imports which, by the rules of .dependency-cruiser.mjs, and what only one part may contain.
//
// A cruiser that cannot read a file skips it and reports no violations. So this first plants violations in a small
// workspace with our folders' names and demands that each is found, then counts that every source file was seen.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const cruiser = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
const config = path.join(root, '.dependency-cruiser.mjs')
const parseJsx = path.join(root, 'scripts/parse-jsx.mjs')

// file, what it imports, the rule that must object (null: allowed)
const PLANTED = [
  ['packages/contracts/src/planted.ts', '@slipway/domain', null],
  ['services/gateway/src/planted.ts', '@slipway/database', null],
  ['packages/domain/src/planted.ts', '@slipway/contracts', 'domain-imports'],
  ['packages/engine/src/planted.ts', '@slipway/contracts', 'engine-imports'],
  ['packages/contracts/src/planted-up.ts', '@slipway/runtime', 'contracts-imports'],
  ['packages/runtime/src/planted.ts', '@slipway/broker', 'runtime-imports'],
  ['packages/runtime/src/planted-contracts.ts', '@slipway/contracts', 'runtime-imports'],
  ['packages/http/src/planted.ts', '@slipway/database', 'http-imports'],
  ['packages/broker/src/planted.ts', '@slipway/database', 'broker-imports'],
  ['packages/database/src/planted.ts', '@slipway/broker', 'database-imports'],
  ['packages/client/src/planted.ts', '@slipway/runtime', 'client-imports'],
  ['packages/client/src/planted-cli.ts', '../../cli/src/index.ts', 'client-imports'],
  ['packages/cli/src/planted.ts', '@slipway/client', null],
  ['packages/cli/src/planted-runtime.ts', '@slipway/runtime', 'cli-imports'],
  ['packages/cli/src/planted-inside.ts', '../../client/src/inside.ts', 'only-through-the-index'],
  ['packages/console/src/planted.ts', '@slipway/contracts', 'console-imports'],
  ['packages/console/src/app/planted.tsx', '@slipway/contracts', 'console-imports'],
  // Two screens of the console that need each other.
  ['packages/console/src/screens/first/planted.tsx', '../second/inside.ts', 'one-way'],
  ['packages/console/src/screens/second/planted.tsx', '../first/inside.ts', 'one-way'],
  ['tests/support/src/planted.ts', '../../../services/gateway/src/main.ts', 'support-imports'],
  ['services/gateway/src/planted-client.ts', '@slipway/client', 'gateway-imports'],
  ['services/gateway/src/planted-testing.ts', '@slipway/testing', 'sources-without-tests'],
  ['services/planner/src/planted.ts', '../../dispatcher/src/main.ts', 'no-foreign-service'],
  ['services/planner/test/planted.ts', '../../dispatcher/src/main.ts', 'no-foreign-service'],
  ['services/orchestration-instance/src/planted.ts', '@slipway/database', 'orchestration-instance-imports'],
  ['services/orchestration-instance/src/planted-broker.ts', '@slipway/broker', 'orchestration-instance-imports'],
  ['services/orchestration-instance/src/planted-redis.ts', '@slipway/runtime/redis', 'runtime/redis-importers'],
  ['services/target-agent/src/planted-redis.ts', '@slipway/runtime/redis', 'runtime/redis-importers'],
  ['packages/runtime/src/planted-redis.ts', './redis/index.ts', 'runtime/redis-importers'],
  ['services/log-stream/src/planted-redis.ts', '@slipway/runtime/redis', null],
  ['services/target-agent/src/planted-limits.ts', '@slipway/http/limits', 'http/limits-importers'],
  ['packages/http/src/planted-limits.ts', './limits/index.ts', 'http/limits-importers'],
  ['services/planner/src/planted-audit.ts', '@slipway/database/audit', 'database/audit-importers'],
  [
    'services/planner/src/planted-inside.ts',
    '../../../packages/database/src/audit/inside.ts',
    'only-through-the-index',
  ],
  ['services/dispatcher/src/planted.ts', '../../../packages/domain/src/inside.ts', 'only-through-the-index'],
  ['services/dispatcher/src/planted-nowhere.ts', '@slipway/nowhere', 'resolvable'],
  // A cycle is reported once, at its first file.
  ['services/dispatcher/src/planted/a.ts', './b.ts', 'no-cycles'],
  ['services/dispatcher/src/planted/b.ts', './a.ts', null],
  // Two folders of a service that need each other, though no two files do.
  ['services/planner/src/first/planted.ts', '../second/inside.ts', 'one-way'],
  ['services/planner/src/second/planted.ts', '../first/inside.ts', 'one-way'],
  ['services/dispatcher/src/planted/use-case.ts', './planted.sql.ts', null],
  ['services/dispatcher/src/planted/planted.sql.ts', '../inside.ts', 'statements-last'],
  ['tests/campaign/planted.ts', '@slipway/testing', null],
  ['tests/campaign/planted-domain.ts', '@slipway/domain', 'campaign-imports'],
  ['tests/campaign/oracle/planted.ts', '@slipway/testing', 'oracle-imports'],
  ['packages/unheard-of/src/planted.ts', '@slipway/domain', 'unknown-part'],
]

/** Cruises a folder; returns the modules seen and the violations as { from, to, rule }. */
function cruise(cwd) {
  const folders = ['packages', 'services', 'tests'].filter((folder) => fs.existsSync(path.join(cwd, folder)))
  const output = execFileSync(
    process.execPath,
    ['--import', parseJsx, cruiser, '--config', config, '--output-type', 'json', ...folders],
    { cwd, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
  )
  const { modules, summary } = JSON.parse(output)
  const imports = modules.flatMap(({ source, dependencies }) =>
    dependencies.map(({ resolved }) => ({ from: source, to: resolved })),
  )
  return {
    modules: new Set(modules.map((module) => module.source)),
    violations: [
      ...summary.violations.map(({ from, to, rule }) => ({ from, to, rule: rule.name })),
      ...backArrows(imports),
    ],
  }
}

/** The part of a service or of the console that a file is in: a folder of its `src`, a screen, or a file beside them. */
const partOf = (file) => /^(services\/[^/]+|packages\/console)\/src\/(screens\/)?[^/]+/.exec(file)?.[0]

/** Imports that belong to a cycle between such parts: inside a service and inside the console, imports point one way. */
function backArrows(imports) {
  const between = imports.filter(({ from, to }) => partOf(from) && partOf(to) && partOf(from) !== partOf(to))
  const arrows = new Map()
  for (const { from, to } of between) {
    arrows.set(partOf(from), (arrows.get(partOf(from)) ?? new Set()).add(partOf(to)))
  }
  const reaches = (start, end) => {
    const seen = new Set()
    const open = [start]
    for (let part = open.pop(); part !== undefined; part = open.pop()) {
      if (part === end) return true
      if (seen.has(part)) continue
      seen.add(part)
      open.push(...(arrows.get(part) ?? []))
    }
    return false
  }
  return between
    .filter(({ from, to }) => reaches(partOf(to), partOf(from)))
    .map((arrow) => ({ ...arrow, rule: 'one-way' }))
}

function write(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
}

/** Every source file of every package and service, of the campaign and of what tests share, relative to the root. */
function sources() {
  const ofParts = ['packages', 'services'].flatMap((folder) =>
    fs.readdirSync(path.join(root, folder)).flatMap((name) => {
      const src = path.join(folder, name, 'src')
      if (!fs.existsSync(path.join(root, src))) return []
      return fs
        .readdirSync(path.join(root, src), { recursive: true })
        .map((file) => path.join(src, file))
        .filter((file) => /\.tsx?$/.test(file) && !file.includes('/generated/'))
    }),
  )
  const ofTests = ['tests/campaign', 'tests/support/src'].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true })
      .map((file) => path.join(folder, file))
      .filter((file) => file.endsWith('.ts')),
  )
  return [...ofParts, ...ofTests]
}

/** Builds the small workspace, cruises it, and returns what is wrong with the findings. */
function plantedProblems(dir) {
  const parts = ['packages', 'services'].flatMap((folder) =>
    fs.readdirSync(path.join(root, folder)).map((name) => path.join(folder, name)),
  )
  for (const part of [...parts, 'tests/support']) {
    const manifest = path.join(root, part, 'package.json')
    if (!fs.existsSync(manifest)) continue
    const planted = path.join(dir, part)
    const entry = part.startsWith('services/') ? 'src/main.ts' : 'src/index.ts'
    write(path.join(planted, entry), 'export const word: string = ""\n')
    fs.copyFileSync(manifest, path.join(planted, 'package.json'))
    const link = path.join(dir, 'node_modules', JSON.parse(fs.readFileSync(manifest, 'utf8')).name)
    fs.mkdirSync(path.dirname(link), { recursive: true })
    fs.symlinkSync(planted, link)
  }
  for (const folder of [
    'packages/client/src',
    'packages/domain/src',
    'packages/database/src/audit',
    'services/dispatcher/src',
    'services/planner/src/first',
    'services/planner/src/second',
    'packages/console/src/screens/first',
    'packages/console/src/screens/second',
  ]) {
    write(path.join(dir, folder, 'inside.ts'), 'export const word: string = ""\n')
  }
  for (const folder of ['packages/database/src/audit', 'packages/http/src/limits', 'packages/runtime/src/redis']) {
    write(path.join(dir, folder, 'index.ts'), 'export const word: string = ""\n')
  }
  // Types alone, in one half: they vanish when compiled, yet they bind as much as values do.
  PLANTED.forEach(([file, imported], n) => {
    const kind = n % 2 === 0 ? 'type ' : ''
    const element = file.endsWith('.tsx') ? 'export const element = <p>here</p>\n' : ''
    write(
      path.join(dir, file),
      `import { ${kind}word } from '${imported}'\nexport const here: typeof word = ''\n${element}`,
    )
  })
  const { violations } = cruise(dir)
  return PLANTED.flatMap(([file, imported, expected]) => {
    const rules = violations.filter(({ from }) => from === file).map(({ rule }) => rule)
    if (expected === null ? rules.length === 0 : rules.includes(expected)) return []
    return [
      `planted ${file} importing ${imported}: expected ${expected ?? 'no violation'}, found ${rules.join(', ') || 'none'}`,
    ]
  })
}

/** What only one folder may contain: the reason, and texts in which it must be found or not. `within`: where it is looked for. */
const ONE_PLACE = [
  {
    folder: 'packages/database/src/steps/',
    within: /^/,
    pattern: /\bUPDATE\s+(ONLY\s+)?(public\.)?"?steps"?(?!\w)|\bstep\.(update|upsert)/i,
    reason: 'only `writeSteps` updates steps, so that releases, locks and counts follow',
    found: ['UPDATE steps s SET', 'update "steps"\n SET', 'UPDATE public.steps', 'tx.step.updateMany('],
    ignored: ['UPDATE run_progress SET ended_steps', 'UPDATE steps_of_plans SET', 'INSERT INTO steps ('],
  },
  {
    folder: 'packages/domain/src/access/',
    within: /^(services|packages\/(domain|engine|database|http))\//,
    pattern: /\b(permissions|scopes|roles)\b\)?\??\.(includes|some|every|has|indexOf|find)\(|ANY ?\(\w+\.permissions\)/,
    reason: 'only `may` looks at permissions, so that scopes and API keys count everywhere',
    found: ["caller.permissions.includes('a')", 'user.roles.some(', `'deployments:approve' = ANY (r.permissions)`],
    ignored: ['PERMISSIONS.find(', "may(caller, 'targets:local')", 'permissionsOf(subject)'],
  },
]

function placeProblems({ folder, within, pattern, reason, found, ignored }) {
  return [
    ...found.filter((text) => !pattern.test(text)).map((text) => `planted text "${text}" was not found`),
    ...ignored.filter((text) => pattern.test(text)).map((text) => `the text "${text}" was found wrongly`),
    ...sources().flatMap((file) => {
      const isElsewhere = within.test(file) && !file.startsWith(folder)
      if (!isElsewhere || !pattern.test(fs.readFileSync(path.join(root, file), 'utf8'))) return []
      return [`${file}: ${reason}; move it to ${folder}`]
    }),
  ]
}

const dir = path.join(fs.realpathSync(root), '.slipway', `boundaries-${process.pid}`)
let problems
try {
  problems = plantedProblems(dir)
} finally {
  fs.rmSync(dir, { recursive: true, force: true })
}

const { modules, violations } = cruise(root)
for (const { from, to, rule } of violations) problems.push(`${from} imports ${to}: ${rule}`)
problems.push(...ONE_PLACE.flatMap(placeProblems))
for (const file of sources()) if (!modules.has(file)) problems.push(`${file} was not seen by the cruiser`)

for (const problem of problems) console.error(`boundaries: ${problem}`)
if (problems.length > 0) process.exit(1)
console.log(`boundaries: ${modules.size} modules, no violation; all ${PLANTED.length} planted imports judged rightly`)
