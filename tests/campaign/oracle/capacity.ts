import { type Check, Findings, groupBy } from './evidence.ts'

const capacityHolds: Check = ({ tables, capacity }) => {
  const findings = new Findings()
  for (const [instance, leases] of groupBy(tables.leases, ({ instance_id }) => instance_id)) {
    // At equal times the end comes first: intervals are half-open.
    const changes = leases
      .flatMap(({ acquired_at, ended_at }) => [
        { at: acquired_at.getTime(), by: 1 },
        ...(ended_at === null ? [] : [{ at: ended_at.getTime(), by: -1 }]),
      ])
      .sort((a, b) => a.at - b.at || a.by - b.by)
    let live = 0
    let most = 0
    for (const { by } of changes) {
      live += by
      most = Math.max(most, live)
    }
    findings.unless(most <= capacity, 'I14', 'live leases never exceed the capacity', [instance], { most, capacity })
  }
  return findings.all
}

const slotsAreLeasedOnce: Check = ({ tables }) => {
  const findings = new Findings()
  for (const [slot, leases] of groupBy(tables.leases, (lease) => `${lease.instance_id} ${lease.slot}`)) {
    for (const [index, lease] of leases.entries()) {
      const before = leases[index - 1]
      if (before === undefined) continue
      const isFree = before.ended_at !== null && before.ended_at <= lease.acquired_at
      findings.unless(isFree, 'I15', 'no slot is leased twice at a time', [slot], { before, lease })
    }
  }
  for (const [id, leases] of groupBy(tables.leases, ({ deployment_id }) => deployment_id)) {
    for (const [index, lease] of leases.entries()) {
      const before = leases[index - 1]
      if (before === undefined) continue
      const isLater =
        BigInt(lease.epoch) > BigInt(before.epoch) && lease.acquired_at >= (before.ended_at ?? lease.acquired_at)
      findings.unless(isLater, 'I15', 'epochs of a deployment rise with time', [id], { before, lease })
    }
  }
  return findings.all
}

const noLeaseIsLive: Check = ({ tables }) => {
  const findings = new Findings()
  for (const lease of tables.leases) {
    const { ended_at, end_reason, deployment_id } = lease
    const hasEnded = ended_at !== null && end_reason !== null
    findings.unless(hasEnded, 'I16', 'at rest no lease is live, and each has its reason', [deployment_id], lease)
  }
  const leased = new Set(tables.leases.map(({ deployment_id }) => deployment_id))
  const ran = tables.deployments.filter(({ id }) =>
    tables.steps.some((s) => s.deployment_id === id && s.started_at !== null),
  )
  for (const { id } of ran) findings.unless(leased.has(id), 'I16', 'nothing runs without a lease', [id], null)
  return findings.all
}

export const capacity: Check[] = [capacityHolds, slotsAreLeasedOnce, noLeaseIsLive]
