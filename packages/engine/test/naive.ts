import type { Instance, StartRequest } from '../src/index.ts'
import { NOW, type World } from './worlds.ts'

/**
 * The rules of docs/decisions/0063, 0064 and 0070 once more, for the small worlds of these tests: one list of facts, read again for
 * each request.
 */
export function naiveOutcomes({ snapshot, requests }: World): string[] {
  const facts: string[] = []
  const taken = (id: string) => facts.filter((fact) => fact === `slot ${id}`).length
  const count = (fact: string) => facts.filter((one) => one === fact).length
  const told: string[] = []
  const starts = requests.filter((request) => request.kind === 'start')
  const isHeld = (id: string) => snapshot.targets.get(id)?.holder != null || facts.includes(`held ${id}`)
  const isFrozen = ({ tenant_id, subject }: StartRequest) =>
    !subject.override &&
    snapshot.freezes.all.some((freeze) => freeze.tenant_id === null || freeze.tenant_id === tenant_id)
  const serves = (one: Instance, { tenant_id, selector }: Pick<StartRequest, 'tenant_id' | 'selector'>) =>
    one.idle === null &&
    (one.tenant_id === null || one.tenant_id === tenant_id) &&
    (selector === null || one.labels['zone'] === selector.match_labels?.['zone'])
  const zones = new Set(requests.map(({ selector }) => selector?.match_labels?.['zone'] ?? 'any'))
  const uses = ({ labels }: Instance) => [...zones].filter((one) => one === 'any' || one === labels['zone']).length
  const pick = (request: Pick<StartRequest, 'tenant_id' | 'selector'>) =>
    snapshot.instances
      .filter((one) => serves(one, request) && one.free.length > taken(one.id))
      .map((one) => ({ one, load: (one.taken + taken(one.id) + 1) / one.slots }))
      .sort(
        (a, b) =>
          Number(a.one.tenant_id === null) - Number(b.one.tenant_id === null) ||
          (zones.size === 1 && zones.has('any') ? 0 : uses(a.one) - uses(b.one)) ||
          a.load - b.load ||
          a.one.id.localeCompare(b.one.id),
      )[0]?.one

  const give = (id: string, instance: Instance) => {
    facts.push(`slot ${instance.id}`)
    told.push(`${id} start on ${instance.id}`)
  }
  for (const request of requests.filter(({ kind }) => kind === 'orphan')) {
    const instance = pick(request)
    if (instance) give(request.id, instance)
    else told.push(`${request.id} wait`)
  }

  const inTurn: { request: StartRequest; rank: number; place: number }[] = []
  const rivals = new Set<string>()
  for (const [place, request] of starts.entries()) {
    const { arrival, targets } = request
    if (arrival !== null && arrival.status !== 'new') {
      told.push(`${request.id} ${arrival.status === 'late' ? 'dropped' : 'known'}`)
      continue
    }
    if (arrival !== null && isFrozen(request)) {
      told.push(`${request.id} refuse`)
      continue
    }
    const replacing = arrival === null ? [] : targets.filter(({ policy }) => policy === 'supersede').map(({ id }) => id)
    const isLater = replacing.some((id) => rivals.has(id))
    for (const id of replacing) rivals.add(id)
    if (isLater) continue
    const ranks = [request.rank, ...(arrival?.older ?? []).map(({ rankInItsPlace }) => rankInItsPlace)]
    inTurn.push({ request, rank: Math.min(...ranks), place: arrival === null ? -1 : place })
  }
  inTurn.sort((a, b) => a.rank - b.rank || a.place - b.place || a.request.id.localeCompare(b.request.id))
  const replaced = new Set<string>()
  const undecided = new Set(inTurn.map(({ request }) => request.id))
  const waitsForNewer = (id: string) =>
    inTurn.some(({ request }) => undecided.has(request.id) && request.arrival?.older.some((one) => one.id === id))
  for (const { request, rank } of inTurn) {
    const { id, tenant_id, targets, arrival, retry_at } = request
    if (replaced.has(id) || waitsForNewer(id)) continue
    undecided.delete(id)
    const goesWith = new Set(arrival?.older.map((one) => one.id))
    const isReserved = (target: string) =>
      facts.some((fact) => {
        const [kind, by, wanted] = fact.split(' ')
        return kind === 'waits' && wanted === target && !goesWith.has(by ?? '')
      })
    const busy = targets.filter((one) => isHeld(one.id) || isReserved(one.id))
    if (arrival !== null && busy.some(({ policy }) => policy === 'reject')) {
      told.push(`${id} refuse`)
      continue
    }
    for (const one of goesWith) replaced.add(one)
    const isFull =
      snapshot.tenantLimit !== null &&
      tenant_id !== null &&
      (snapshot.running.get(tenant_id) ?? 0) + count(`runs ${tenant_id}`) >= snapshot.tenantLimit
    const hasPool = snapshot.instances.some((one) => serves(one, request) && one.slots > 0)
    const isOut = isFrozen(request) || isFull || !hasPool || (retry_at !== null && retry_at > NOW)
    const instance = pick(request)
    if (isOut || busy.length > 0 || instance === undefined || rank > snapshot.readUpTo) {
      told.push(`${id} wait`)
      if (!isOut) for (const one of targets) facts.push(`waits ${id} ${one.id}`)
      continue
    }
    give(id, instance)
    if (tenant_id !== null) facts.push(`runs ${tenant_id}`)
    for (const one of targets) facts.push(`held ${one.id}`)
  }

  const checks = requests.filter(({ kind }) => kind === 'check')
  const running = (tenant: string | null) => (snapshot.runningChecks.get(tenant ?? '') ?? 0) + count(`check ${tenant}`)
  const all = () =>
    [...snapshot.runningChecks.values()].reduce((sum, one) => sum + one, 0) +
    facts.filter((fact) => fact.startsWith('check ')).length
  const started = new Set<string>()
  for (const turn of [0, 1]) {
    const tried = new Set<string>()
    for (const { id, tenant_id, selector } of checks) {
      if (started.has(id) || running(tenant_id) !== turn || all() >= (turn === 0 ? 16 : 4)) continue
      tried.add(id)
      const instance = pick({ tenant_id, selector })
      if (instance === undefined || snapshot.readUpTo !== Number.POSITIVE_INFINITY) continue
      give(id, instance)
      facts.push(`check ${tenant_id}`)
      started.add(id)
    }
  }
  for (const { id } of checks) if (!started.has(id)) told.push(`${id} wait`)
  return told
}
