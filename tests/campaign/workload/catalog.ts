import fs from 'node:fs'
import path from 'node:path'
import {
  type Api,
  apiWithToken,
  createAction,
  createLocalTarget,
  createSequence,
  createUser,
  waitFor,
} from '@slipway/testing'

/** The folder where commands record their starts, ends and overlaps. */
export interface Markers {
  folder: string
  /** One line for each start, end and overlap of a command. */
  file: string
  /** A locked file for each step. */
  locks: string
}

export function makeMarkers(folder: string): Markers {
  const locks = path.join(folder, 'locks')
  fs.mkdirSync(locks, { recursive: true })
  const file = path.join(folder, 'markers')
  fs.writeFileSync(file, '')
  return { folder, file, locks }
}

/** The properties of a command that the oracle needs. */
export interface Script {
  /** How many lines each attempt writes. */
  lines: number
  /** Attempts below this one fail by themselves. */
  failsBefore: number
  /** Whether it has a rollback script. */
  isUndone?: boolean
  /** Whether it prints the secret in each line. */
  tellsSecret?: boolean
  /** Seconds after which each attempt is killed. The command itself never ends. */
  timeoutSeconds?: number
}

/** The value of a sensitive variable. No client may see it. */
export const SECRET = 'hush-4f1d9c7b2e65a083'

/** Short steps, for deployments of many commands. */
const TICKS = ['tick', 'tick-2', 'tick-3', 'tick-4', 'tick-5', 'tick-6', 'tick-7', 'tick-8']

/** By the names of actions, which are the names of steps. */
export const SCRIPTS: Record<string, Script & { work: string }> = {
  ...Object.fromEntries(TICKS.map((name) => [name, { lines: 8, failsBefore: 0, work: '' }])),
  quick: { lines: 10, failsBefore: 0, work: '' },
  'quick-2': { lines: 20, failsBefore: 0, work: '' },
  'quick-3': { lines: 40, failsBefore: 0, work: '' },
  chatty: { lines: 400, failsBefore: 0, work: '' },
  loud: { lines: 1_500, failsBefore: 0, work: '' },
  slow: { lines: 60, failsBefore: 0, work: 'sleep 2' },
  long: { lines: 30, failsBefore: 0, work: '[ "$SLIPWAY_ATTEMPT" -gt 1 ] || sleep 12' },
  flaky: { lines: 15, failsBefore: 1, work: '' },
  undone: { lines: 12, failsBefore: 0, work: '', isUndone: true },
  'undone-2': { lines: 12, failsBefore: 0, work: '', isUndone: true },
  telling: { lines: 8, failsBefore: 0, work: '', tellsSecret: true },
  hanging: { lines: 5, failsBefore: 0, work: '', timeoutSeconds: 2 },
  failing: { lines: 5, failsBefore: Number.POSITIVE_INFINITY, work: '' },
}

/** The exit code of attempts that fail by themselves. */
export const OWN_FAILURE = 7

/** Numbers attempts from 0, as `retry_count` does. */
const MARK =
  'n=$((SLIPWAY_ATTEMPT - 1)) k="$SLIPWAY_DEPLOYMENT_ID $SLIPWAY_TARGET_NAME $SLIPWAY_STEP $((SLIPWAY_ATTEMPT - 1))"'

/** A command that records its start and end, and whether another attempt of its step is alive. Shell built-ins cost no process. */
function markedScript(
  markers: Markers,
  { lines, failsBefore, work, timeoutSeconds, tellsSecret }: Script & { work: string },
): string {
  const numbers = Array.from({ length: lines }, (_, n) => n + 1).join(' ')
  const secret = tellsSecret ? ' $SLIPWAY_VAR_SECRET $(printf %s "$SLIPWAY_VAR_SECRET" | base64)' : ''
  const note = (what: string) => `echo "${what} $k $$ $up $PWD" >>'${markers.file}'`
  return [
    'read -r up _ </proc/uptime',
    MARK,
    // All processes of the command inherit the lock, so it is free only after all of them have ended.
    `exec 9>>'${markers.locks}/'"$SLIPWAY_DEPLOYMENT_ID.$SLIPWAY_TARGET_NAME.$SLIPWAY_STEP"`,
    `flock -n 9 || ${note('overlap')}`,
    note('start'),
    `printf "$SLIPWAY_TARGET_NAME $SLIPWAY_STEP $n %s${secret}\\n" ${numbers}`,
    work,
    ...(timeoutSeconds === undefined
      ? []
      : ['while :; do', 'sleep 0.5', 'read -r up _ </proc/uptime', note('alive'), 'done']),
    'read -r up _ </proc/uptime',
    note('end'),
    failsBefore === 0
      ? ''
      : `[ "$n" -ge ${Number.isFinite(failsBefore) ? failsBefore : 1_000} ] || exit ${OWN_FAILURE}`,
  ]
    .filter((line) => line !== '')
    .join('\n')
}

const rollbackScript = ({ file }: Markers) =>
  [
    'read -r up _ </proc/uptime',
    MARK,
    `echo "undo $k $$ $up $PWD" >>'${file}'`,
    `echo "undone $k $$ $up $PWD" >>'${file}'`,
  ].join('\n')

/** A kind of deployment. */
export interface Shape {
  name: string
  weight: number
  sequence: string[]
  targets: number
  options: Record<string, unknown>
  /** The least `max_retries`, so that attempts which fail by themselves do not use them up. */
  retries: number
  /** Whether it ends failed by itself. */
  fails: boolean
}

const PARALLEL = { target_mode: 'parallel' }

export const SHAPES: readonly Shape[] = [
  { name: 'single', weight: 6, sequence: ['quick'], targets: 1, options: {}, retries: 6, fails: false },
  { name: 'one try', weight: 2, sequence: ['quick-2'], targets: 1, options: {}, retries: 0, fails: false },
  {
    name: 'wide',
    weight: 3,
    sequence: ['quick', 'chatty', 'quick-3', 'quick-2'],
    targets: 6,
    options: PARALLEL,
    retries: 6,
    fails: false,
  },
  {
    name: 'rolling',
    weight: 2,
    sequence: ['quick', 'quick-2', 'chatty'],
    targets: 6,
    options: { target_mode: { rolling: { batch_size: 2 } } },
    retries: 6,
    fails: false,
  },
  { name: 'broad', weight: 7, sequence: TICKS, targets: 12, options: PARALLEL, retries: 6, fails: false },
  {
    name: 'loud',
    weight: 3,
    sequence: ['tick', 'loud', 'tick-2'],
    targets: 4,
    options: PARALLEL,
    retries: 6,
    fails: false,
  },
  {
    name: 'telling',
    weight: 2,
    sequence: ['telling', 'quick'],
    targets: 2,
    options: { ...PARALLEL, variables: { secret: SECRET } },
    retries: 6,
    fails: false,
  },
  { name: 'slow', weight: 2, sequence: ['slow', 'chatty'], targets: 2, options: PARALLEL, retries: 6, fails: false },
  { name: 'long', weight: 1, sequence: ['long', 'quick'], targets: 1, options: {}, retries: 6, fails: false },
  { name: 'flaky', weight: 2, sequence: ['flaky', 'quick'], targets: 2, options: PARALLEL, retries: 6, fails: false },
  {
    name: 'failing',
    weight: 1,
    sequence: ['quick', 'failing', 'quick-2'],
    targets: 3,
    options: {},
    retries: 1,
    fails: true,
  },
  {
    name: 'rolled back',
    weight: 1,
    sequence: ['undone', 'undone-2', 'failing'],
    targets: 2,
    options: { ...PARALLEL, rollback_strategy: 'all_executed' },
    retries: 1,
    fails: true,
  },
  { name: 'timed out', weight: 1, sequence: ['hanging', 'quick'], targets: 1, options: {}, retries: 0, fails: true },
  {
    name: 'failing on',
    weight: 1,
    sequence: ['quick', 'failing', 'quick-2'],
    targets: 3,
    options: { ...PARALLEL, failure_strategy: 'ignore_failures' },
    retries: 1,
    fails: false,
  },
]

export interface Catalog {
  targets: { id: string; name: string }[]
  /** The sequence of each shape. */
  sequences: Map<string, string>
  /** An environment with a freeze that is always active. */
  frozenEnvironment: string
  /** The API key of a user of a tenant that has no deployments. */
  foreignKey: string
}

const TARGETS = 12

export async function makeCatalog(url: string, token: string, markers: Markers): Promise<Catalog> {
  const api = apiWithToken(url, token)
  const actions = new Map<string, string>()
  for (const [name, script] of Object.entries(SCRIPTS)) {
    const parts = {
      script: markedScript(markers, script),
      ...(script.tellsSecret ? { variables: [{ name: 'secret', sensitive: true }] } : {}),
      ...(script.isUndone === true ? { rollback: rollbackScript(markers) } : {}),
      ...(script.timeoutSeconds === undefined ? {} : { timeout_seconds: script.timeoutSeconds }),
    }
    actions.set(name, await createAction(api, parts, name))
  }
  const sequences = new Map<string, string>()
  for (const { name, sequence } of SHAPES) {
    sequences.set(
      name,
      await createSequence(
        api,
        sequence.map((action) => actions.get(action) as string),
        name,
      ),
    )
  }
  const targets = []
  for (let n = 1; n <= TARGETS; n += 1) {
    const name = `target-${n}`
    targets.push({ id: await createLocalTarget(api, { name }), name })
  }
  await waitFor(async () => (await api.get('/health/ready')).status === 200, { what: 'the gateway to be ready' })
  return {
    targets,
    sequences,
    frozenEnvironment: await freezeEnvironment(api),
    foreignKey: await makeForeigner(url, api),
  }
}

async function freezeEnvironment(api: Api): Promise<string> {
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
  const { body: environment } = await api.post('/environments', { name: 'frozen' })
  const freeze = { name: 'always', start_time: at(-60), end_time: at(24 * 60), environment_id: environment.id }
  const { status } = await api.post('/deployment-freezes', freeze)
  if (status !== 201) throw new Error(`the freeze was answered with ${status}`)
  return environment.id
}

async function makeForeigner(url: string, api: Api): Promise<string> {
  const { body: tenant } = await api.post('/tenants', { name: 'foreign' })
  const user = await createUser({ url }, api, ['user'], tenant.id)
  const { body } = await user.post('/auth/api-keys', { name: 'foreign' })
  return body.full_key
}
