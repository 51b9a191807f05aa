import { FAILPOINTS } from '@slipway/runtime'
import type { ServiceName } from '@slipway/testing'

/** A process and a moment at which it is killed. */
export interface Cell {
  /** The way of a deployment: create, start, events, finish, cancel, drain or takeover. */
  way: string
  service: string
  path: string
  moment: string
  /** The name of the failpoint. */
  name: string
}

export const CELLS: readonly Cell[] = Object.entries(FAILPOINTS).flatMap(([way, services]) =>
  Object.entries(services).flatMap(([service, paths]) =>
    Object.entries(paths as Record<string, readonly (readonly string[])[]>).flatMap(([path, moments]) =>
      moments.flat().map((moment) => ({ way, service, path, moment, name: `${service}.${path}.${moment}` })),
    ),
  ),
)

/** Whether the cell is hit only if an instance is lost. */
export const needsLoss = ({ way, service }: Cell) => way === 'takeover' && service === 'dispatcher'

/** Whether the cell is hit only by a start after a kill. */
export const needsRestart = ({ path }: Cell) => path === 'restored-journal'

/** Whether a process dies there with an unacknowledged message of a work queue. */
const holdsMessage = (cell: Cell) =>
  cell.service === 'planner' ||
  cell.moment.endsWith('-acknowledge') ||
  (cell.moment.endsWith('-commit') && handles(cell))

/** Whether the commit of the cell is the effect of a message. The others are those of a heartbeat, of a batch of events or of a sweep. */
const handles = ({ way, service, path }: Cell) =>
  service === 'dispatcher' ? way !== 'drain' && way !== 'takeover' : path === 'instance.update'

/** Whether a process dies there with work that it gets again after its restart. */
export const holdsWork = (cell: Cell) => holdsMessage(cell) || cell.service === 'orchestration-instance'

/**
 * The processes that may die at the cell. Of two consumers only one does: a message whose consumers die six times is a dead letter.
 * Of the gateways only one does: clients need one that stays.
 */
export const processesOf = (cell: Cell): ServiceName[] =>
  (cell.service === 'gateway' || holdsMessage(cell)
    ? [cell.service]
    : [`${cell.service}-2`, cell.service]) as ServiceName[]
