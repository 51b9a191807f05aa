// Which part may import which. Everything that is not allowed here is forbidden.
// scripts/boundaries.mjs runs these rules and proves that each of them finds a planted violation.

const PACKAGES = {
  domain: [],
  engine: ['domain'],
  scripts: ['domain'],
  contracts: ['domain'],
  runtime: [],
  broker: ['contracts', 'domain', 'runtime'],
  commands: ['contracts', 'domain'],
  http: ['contracts', 'domain', 'runtime'],
  database: ['contracts', 'domain', 'engine', 'runtime'],
  client: ['contracts'],
  cli: ['client', 'contracts'],
  console: ['client'],
}

const INFRASTRUCTURE = ['broker', 'contracts', 'database', 'domain', 'engine', 'runtime']
const SERVICES = {
  gateway: [...INFRASTRUCTURE, 'http', 'scripts'],
  planner: INFRASTRUCTURE,
  dispatcher: INFRASTRUCTURE,
  'executor-bridge': [...INFRASTRUCTURE, 'http'],
  'log-stream': [...INFRASTRUCTURE, 'http'],
  // They run beside the targets, where neither the database nor the broker can be reached.
  'orchestration-instance': ['commands', 'contracts', 'domain', 'runtime'],
  'target-agent': ['commands', 'contracts', 'domain', 'http', 'runtime'],
}

// Folders of packages with an export of their own, `@slipway/runtime/redis`, and the parts that may load them.
const EXPORTED_FOLDERS = {
  'domain/analysis': ['services/gateway', 'services/executor-bridge'],
  'domain/ssh': ['services/gateway', 'services/orchestration-instance'],
  'runtime/redis': ['packages/http/src/limits', 'services/gateway', 'services/executor-bridge', 'services/log-stream'],
  'http/limits': ['services/gateway', 'services/log-stream'],
  'database/audit': ['services/gateway', 'services/dispatcher', 'services/executor-bridge'],
  'database/read-models': [
    'services/gateway',
    'services/planner',
    'services/dispatcher',
    'services/executor-bridge',
    'services/log-stream',
  ],
}
const folderOf = (exported) => exported.replace('/', '/src/')

const OURS = '^(packages|services|tests/support)/'
const oneOf = (names) => `(${names.join('|')})`
const mayImport = (folder, name, packages) => ({
  name: `${name}-imports`,
  comment: `${folder}/${name} may import ${packages.length > 0 ? packages.join(', ') : 'no other part of Slipway'}`,
  severity: 'error',
  from: { path: `^${folder}/${name}/src/` },
  to: {
    path: OURS,
    pathNot: [`^${folder}/${name}/src/`, ...(packages.length > 0 ? [`^packages/${oneOf(packages)}/`] : [])],
  },
})
const mayBeImportedBy = (exported, parts) => ({
  name: `${exported}-importers`,
  comment: `${exported} may be imported by ${parts.join(', ')}`,
  severity: 'error',
  from: { path: OURS, pathNot: ['/test/', '^tests/support/', `^packages/${folderOf(exported)}/`, `^${oneOf(parts)}/`] },
  to: { path: `^packages/${folderOf(exported)}/` },
})

export default {
  forbidden: [
    ...Object.entries(PACKAGES).map(([name, packages]) => mayImport('packages', name, packages)),
    ...Object.entries(SERVICES).map(([name, packages]) => mayImport('services', name, packages)),
    ...Object.entries(EXPORTED_FOLDERS).map(([exported, parts]) => mayBeImportedBy(exported, parts)),
    mayImport('tests', 'support', ['broker', 'database', 'runtime']),
    {
      name: 'campaign-imports',
      comment: 'the campaign judges the product from outside: it uses the kit of the tests, and nothing else',
      severity: 'error',
      from: { path: '^tests/campaign/', pathNot: '^tests/campaign/crash-points/' },
      to: { path: OURS, pathNot: '^tests/support/' },
    },
    {
      name: 'oracle-imports',
      comment: 'a wrong rule of the product would excuse itself',
      severity: 'error',
      from: { path: '^tests/campaign/oracle/' },
      to: { path: OURS },
    },
    {
      name: 'unknown-part',
      comment: 'a new package or service gets its line in .dependency-cruiser.mjs',
      severity: 'error',
      from: {
        path: '^(packages|services)/[^/]+/src/',
        pathNot: [`^packages/${oneOf(Object.keys(PACKAGES))}/`, `^services/${oneOf(Object.keys(SERVICES))}/`],
      },
      to: {},
    },
    {
      name: 'http-without-redis',
      comment:
        'the limits of clients need Redis, which an agent neither reaches nor loads: they stay behind @slipway/http/limits',
      severity: 'error',
      from: { path: '^(packages/http/src/|services/target-agent/)', pathNot: '^packages/http/src/limits/' },
      to: { path: '^packages/(http/src/limits|redis)/' },
    },
    {
      name: 'only-through-the-index',
      comment: "another package's inside is its own: import @slipway/<package>",
      severity: 'error',
      from: { path: '^(packages/[^/]+|services/[^/]+|tests/campaign|tests/support)/' },
      to: {
        path: '^(packages/[^/]+|tests/support)/',
        pathNot: [
          '^$1/',
          '^(packages/[^/]+|tests/support)/src/index\\.ts$',
          '^tests/support/src/oidc/index\\.ts$',
          `^packages/${oneOf(Object.keys(EXPORTED_FOLDERS).map(folderOf))}/index\\.ts$`,
        ],
      },
    },
    {
      name: 'no-foreign-service',
      comment: 'services speak through messages and HTTP, also in tests; only tests/ starts them together',
      severity: 'error',
      from: { path: '^(packages|services|tests/support)/([^/]+)/' },
      to: { path: '^services/', pathNot: '^$1/$2/' },
    },
    {
      name: 'statements-last',
      comment:
        'imports of a service point from entry points to use cases to statements; a statement imports only statements',
      severity: 'error',
      from: { path: '^services/[^/]+/src/.*\\.sql\\.ts$' },
      to: { path: '^services/', pathNot: '\\.sql\\.ts$' },
    },
    {
      name: 'sources-without-tests',
      comment: 'what runs in production imports no test and no test harness',
      severity: 'error',
      from: { path: '^(packages|services)/[^/]+/src/' },
      to: { path: '(^|/)test/|^tests/' },
    },
    {
      name: 'no-cycles',
      comment: 'two files that need each other are one file, or hide a third',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { pathNot: '/generated/' } },
    },
    {
      name: 'resolvable',
      comment: 'an import that cannot be found hides what is behind it from every rule above',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // TypeScript 7 has no API for other tools; without a parser that reads it most modules would be skipped silently.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules|/generated/' },
    exclude: { path: '(^|/)dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@slipway/source', 'import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js'],
    },
  },
}
