import { CATALOG_OPERATIONS, type CheckCatalog, type OperationId, type Static } from '@slipway/contracts'
import { attempt, rehearse, type Transaction } from '@slipway/database'
import {
  type ActionDefinition,
  nameProblems,
  type Problem,
  pointer,
  presumedWriter,
  toErrorBody,
  unavailable,
} from '@slipway/domain'
import { type Answer, isObject } from '@slipway/http'
import { FairSemaphore } from '@slipway/runtime'
import { UNRECORDED } from '../audit-trail.ts'
import type { CallingUser } from '../callers/calling-user.ts'
import { permit } from '../callers/permission.ts'
import { rehearseUpload } from '../content/store.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call, HandlersOf, JsonHandler } from '../handler.ts'
import { admit } from '../http/admission.ts'
import { problemOf } from '../problems.ts'
import { catalogHandlers } from './handlers.ts'
import { readScripts } from './scripts.ts'
import { insertStandIn, insertVersionStandIn } from './stand-in.ts'

type CatalogChange = Static<typeof CheckCatalog>['changes'][number]
type Written = Extract<CatalogChange, { what: 'create' | 'change' | 'publish' | 'delete' }>
type Scripts = ReturnType<Dependencies['scripts']['of']>
type CatalogHandlers = ReturnType<typeof catalogHandlers>
type Result = { error: object | null; warnings: string[] }

/** A check holds rows and a connection for up to 2 s. */
const CHECKING = { limit: 2, perKey: 1, maxWaiting: 10 }
const FORBIDDEN = 403
const SERVER_ERROR = 500

export function catalogCheckHandlers(dependencies: Dependencies): HandlersOf<'checkCatalog'> {
  const checking = new FairSemaphore(CHECKING)
  return {
    checkCatalog: {
      check: ({ changes }) => repeatedIds(Array.isArray(changes) ? changes : []),
      handle: (call) =>
        checking.run(call.caller.tenant_id ?? '', () => checkCatalog(dependencies, call), {
          until: call.bounds.answer,
        }),
    },
  }
}

/** Later changes refer to new records by these ids. */
function repeatedIds(changes: readonly unknown[]) {
  const seen = new Set<unknown>()
  return changes.flatMap((change, index) => {
    if (!isObject(change) || (change['what'] !== 'create' && change['what'] !== 'assume')) return []
    const isRepeated = seen.has(change['id'])
    seen.add(change['id'])
    return isRepeated
      ? [{ path: pointer('changes', index, 'id'), message: 'an earlier change has this id already' }]
      : []
  })
}

async function checkCatalog(dependencies: Dependencies, given: Call<'checkCatalog'>): Promise<Answer> {
  const { changes, assume_permissions = false } = given.body
  const writer = assume_permissions ? presumedWriter(given.caller) : null
  const call = { ...given, caller: { ...given.caller, ...writer } }
  const requireTime = (until: number) => {
    if (performance.now() > until) throw unavailable('The check takes too long: check fewer changes at once')
  }
  const scripts = rememberScripts(dependencies.scripts.of(call.caller.tenant_id))
  const admitting = catalogHandlers(dependencies)
  // Before the transaction: Postgres ends one that waits for long.
  for (const change of changes) {
    if ((change.what !== 'create' && change.what !== 'publish') || change.kind !== 'action') continue
    requireTime(call.bounds.answer)
    try {
      admitWrite(admitting, call.caller, toCall(change, new Map()))
      await readScripts(scripts, (change.body as { definition: ActionDefinition }).definition)
    } catch {
      // The change itself reports the problem.
    }
  }
  const results = await rehearse(dependencies.database, async (database, tx) => {
    const until = Math.min(call.bounds.answer, performance.now() + dependencies.answerTimes.heldMs)
    const handlers = catalogHandlers({ ...dependencies, database, scripts: { of: () => scripts }, outboxChanged() {} })
    const run = createRun({ handlers, tx, call, dependencies })
    const all: Result[] = []
    for (const change of changes) {
      requireTime(until)
      all.push(await run(change))
    }
    return all
  })
  return { status: 200, body: { assumed_permissions: writer !== null, results } }
}

/** Reads each script once. */
function rememberScripts(scripts: Scripts): Scripts {
  const known = new Map<string, ReturnType<Scripts['read']>>()
  return {
    read(script, interpreter) {
      const key = `${interpreter} ${script}`
      const reading = known.get(key) ?? scripts.read(script, interpreter)
      known.set(key, reading)
      return reading
    },
  }
}

interface Rehearsal {
  handlers: CatalogHandlers
  tx: Transaction
  call: Call<'checkCatalog'>
  dependencies: Pick<Dependencies, 'contentLimits'>
}

/** Returns a function that makes one change in the transaction. */
function createRun({ handlers, tx, call, dependencies }: Rehearsal) {
  const { caller } = call
  /** The ids of new records by those that the caller made up. */
  const ids = new Map<string, string>()
  /** The names that stand-ins have in messages, by their ids. */
  const names = new Map<string, string>()

  async function make(change: CatalogChange): Promise<string[]> {
    if (change.what === 'assume') {
      permit(caller, CATALOG_OPERATIONS[change.kind].list)
      await standIn(change, {})
      return []
    }
    if (change.what === 'upload') {
      permit(caller, 'createContent')
      await rehearseUpload(tx, dependencies.contentLimits, caller, change)
      return []
    }
    const write = toCall(change, ids)
    const { handler, query } = admitWrite(handlers, caller, write)
    const { params, body } = write
    const made = await handler.handle({ ...call, params, query, body, audit: UNRECORDED } as unknown as Call)
    const answer = 'body' in made && isObject(made.body) ? made.body : {}
    if (change.what === 'create') ids.set(change.id, String(answer['id']))
    return Array.isArray(answer['warnings']) ? answer['warnings'] : []
  }

  /** What refers to a record that is refused is checked all the same. */
  async function standIn({ id, kind }: { id: string; kind: Written['kind'] }, given: Record<string, unknown>) {
    const { name, tenant_id, version } = replaceIds(given, ids)
    const made = await insertStandIn(tx, caller, { kind, tenant_id, version })
    if (made === null) return
    ids.set(id, made)
    if (typeof name === 'string' && nameProblems(name).length === 0) names.set(made, name)
  }

  async function replace(change: CatalogChange, { status }: Problem): Promise<void> {
    if (status === FORBIDDEN || !('body' in change) || !isObject(change.body)) return
    if (change.what === 'create') await standIn(change, change.body)
    if (change.what === 'publish')
      await insertVersionStandIn(tx, ids.get(change.id) ?? change.id, change.body['version'])
  }

  return async (change: CatalogChange): Promise<Result> => {
    try {
      return { error: null, warnings: await attempt(tx, () => make(change)) }
    } catch (error) {
      const problem = problemOf(error)
      if (problem.status >= SERVER_ERROR) throw error
      await replace(change, problem)
      return { error: withNames(toRefusal(problem), names), warnings: [] }
    }
  }
}

type Write = ReturnType<typeof toCall>

/** @throws Problem for every refusal before the handler */
function admitWrite(handlers: CatalogHandlers, caller: CallingUser, { operation, search, body }: Write) {
  // The table of handlers has one for each operation, and the table of operations only those of records.
  const handler = handlers[operation] as JsonHandler<OperationId>
  const given = { search, headers: {}, body: { value: body, text: JSON.stringify(body) ?? '' } }
  return { handler, query: admit(operation, handler, caller, given) }
}

const toRefusal = (problem: Problem) => ({ status: problem.status, ...toErrorBody(problem).error })

function toCall(change: Written, ids: ReadonlyMap<string, string>) {
  const params = { id: ids.get(change.id) ?? change.id }
  if (change.what === 'delete') {
    const { expected_updated_at } = change
    const search = expected_updated_at === undefined ? '' : `?${new URLSearchParams({ expected_updated_at })}`
    return { operation: CATALOG_OPERATIONS[change.kind].delete, params, search, body: undefined }
  }
  const rest = { search: '', body: replaceIds<unknown>(change.body, ids) }
  if (change.what === 'create') return { operation: CATALOG_OPERATIONS[change.kind].create, params: {}, ...rest }
  if (change.what === 'publish') return { operation: CATALOG_OPERATIONS[change.kind].publish, params, ...rest }
  return { operation: CATALOG_OPERATIONS[change.kind].update, params, ...rest }
}

/** Puts the ids of new records in the place of those that the caller made up. */
const replaceIds = <T>(value: T, ids: ReadonlyMap<string, string>): T =>
  mapTexts(value, (text) => ids.get(text) ?? text)

/** Messages quote the names of records. */
const QUOTED_ID = /"([0-9a-f-]{36})"/g

/** Puts the names of refused records in the place of those of their stand-ins. */
const withNames = <T>(value: T, names: ReadonlyMap<string, string>): T =>
  mapTexts(value, (text) => text.replaceAll(QUOTED_ID, (_, id) => `"${names.get(id) ?? id}"`))

function mapTexts<T>(value: T, map: (text: string) => string): T
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]))
}
