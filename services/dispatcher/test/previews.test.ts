import { expect, test } from '@jest/globals'
import { listItem, readPreviewedStart } from '@slipway/database/read-models'
import { Problem } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { databaseAs, testLogger as logger, roundsOf } from '@slipway/testing'
import fc from 'fast-check'
import { newRequestOf } from '../src/dispatch/start-commands.ts'
import { createStarter } from '../src/dispatch/starter.ts'
import { applySettings } from '../src/pending/settings.ts'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance, clear, keys, loseInstance, queue, type startCommand } from './fixtures.ts'
import { requestsOf } from './requests.ts'
import { targetsOf } from './targets.ts'

/** Random worlds, made by creates and by changes between them. Before each create, its preview is read. */
const db = await testDatabase()
const { database, asDispatcher, catalog } = db
const asPlanner = databaseAs(database, 'planner')
const { dispatchAll } = requestsOf(db)
const { addTargets, command: commandFor, finish, setPolicy } = targetsOf(db)

const TARGETS = { a: 'allow', q: 'queue', r: 'reject', s: 'supersede' } as const
const POLICIES = Object.values(TARGETS)
await addTargets(TARGETS)

const zone = fc.constantFrom('x', 'y')
const targets = fc.subarray(Object.keys(TARGETS), { minLength: 1, maxLength: 2 }).map((names) => names.join(''))
const create = fc.record({
  do: fc.constant('create' as const),
  targets,
  tenant: fc.boolean(),
  zone: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: zone }),
  priority: fc.integer({ min: -1, max: 1 }),
  admin: fc.boolean(),
  override: fc.option(fc.boolean(), { freq: 3, nil: false }),
})
const change = fc.oneof(
  fc.record({
    do: fc.constant('instance' as const),
    capacity: fc.integer({ min: 1, max: 2 }),
    zone: fc.option(zone, { nil: null }),
    tenant: fc.option(fc.boolean(), { freq: 3, nil: false }),
  }),
  fc.record({ do: fc.constantFrom(...(['lose', 'drain', 'finish', 'finish'] as const)), which: fc.nat({ max: 5 }) }),
  fc.record({
    do: fc.constant('freeze' as const),
    of: fc.constantFrom('tenant' as const, 'all' as const, 'none' as const),
  }),
  fc.record({ do: fc.constant('limit' as const), limit: fc.option(fc.integer({ min: 1, max: 2 }), { nil: null }) }),
  fc.record({
    do: fc.constant('policy' as const),
    target: fc.constantFrom(...Object.keys(TARGETS)),
    policy: fc.constantFrom(...POLICIES),
  }),
  fc.record({ do: fc.constant('dispatch' as const) }),
)
const step = fc.oneof({ weight: 3, arbitrary: create }, { weight: 2, arbitrary: change })
type Of<A> = A extends fc.Arbitrary<infer T> ? T : never
type Create = Of<typeof create>
type Change = Of<typeof change>

const idOf = async (sql: string, which: number): Promise<string | undefined> => {
  const { rows } = await database.query<{ id: string }>(sql)
  return rows[which % Math.max(1, rows.length)]?.id
}

async function make(change: Change): Promise<unknown> {
  switch (change.do) {
    case 'instance': {
      const id = await addInstance(database, change.capacity)
      const labels = change.zone === null ? {} : { zone: change.zone }
      return database.query('UPDATE instances SET labels = $2, tenant_id = $3 WHERE id = $1', [
        id,
        labels,
        change.tenant ? catalog.tenant_id : null,
      ])
    }
    case 'lose':
    case 'drain': {
      const id = await idOf('SELECT id FROM instances ORDER BY id', change.which)
      if (id === undefined) return
      if (change.do === 'lose') return loseInstance(database, id)
      return database.query('UPDATE instances SET draining = NOT draining WHERE id = $1', [id])
    }
    case 'finish': {
      const id = await idOf(
        'SELECT deployment_id AS id FROM leases WHERE ended_at IS NULL ORDER BY epoch',
        change.which,
      )
      return id === undefined ? undefined : finish(id)
    }
    case 'freeze':
      await database.query('DELETE FROM freezes')
      if (change.of === 'none') return
      return database.query(
        `INSERT INTO freezes (id, name, start_time, end_time, tenant_id)
         VALUES ($1, 'hold', now() - interval '1 hour', now() + interval '1 hour', $2)`,
        [uuidv7(), change.of === 'tenant' ? catalog.tenant_id : null],
      )
    case 'limit':
      return applySettings(database, { ...queue, tenant_running_limit: change.limit })
    case 'policy':
      return setPolicy(change.target, change.policy)
    case 'dispatch':
      return dispatchAll()
  }
}

function commandOf({ targets, tenant, zone, priority, admin, override }: Create): ReturnType<typeof startCommand> {
  return commandFor(targets, {
    tenant,
    priority,
    ...(zone === null ? {} : { selector: { match_labels: { zone } } }),
    caller: { ...ADMIN, may_override_freezes: admin },
    freeze_override: override ? { reason: 'a test' } : null,
  })
}

/** What became of a create: it started, it waits for this, or it was refused with this code. */
async function outcomeOf(command: ReturnType<typeof startCommand>): Promise<string> {
  try {
    const outcome = await createStarter({ database: asDispatcher, logger })(command, { request_id: null })
    if (outcome?.outcome !== 'queued') return outcome?.outcome ?? 'dropped'
    const item = await listItem({ db: asDispatcher, keys, viewer: ADMIN }, 'pending', command.command_id)
    return `waits for ${(item as { waiting_for?: string } | null)?.waiting_for}`
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}

test('a preview says what the create then does: it starts, it waits for the first blocker, or it is refused for it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      await clear(database)
      await applySettings(database, queue)
      for (const [name, policy] of Object.entries(TARGETS)) await setPolicy(name, policy)
      await addInstance(database, 2)
      for (const each of steps) {
        if (each.do !== 'create') {
          await make(each)
          continue
        }
        // What else could start would take room in the round of the create, and the list is read after it.
        await dispatchAll()
        const command = commandOf(each)
        const { start, others } = await readPreviewedStart(
          asPlanner,
          newRequestOf({ command, request_id: null, traceparent: null }),
        )
        const [first] = start.blockers
        const isRefused = others.some((warning) => warning.endsWith('the deployment would be refused'))
        const said =
          first === undefined
            ? 'started'
            : first.code === 'freeze'
              ? 'DEPLOYMENT_FROZEN'
              : isRefused
                ? 'CONFLICT'
                : `waits for ${first.code}`
        expect(await outcomeOf(command)).toBe(said)
      }
    }),
    { numRuns: roundsOf(15, 200), endOnFailure: true },
  )
})
