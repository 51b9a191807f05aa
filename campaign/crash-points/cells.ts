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
export const needsRestart = ({ path }: Cell) => path === 'restored-run'

/** The processes in which the cells of a service are hit. The first gateway alone: clients need one that stays. */
export const processesOf = (service: string): ServiceName[] =>
  (service === 'gateway' ? [service] : [service, `${service}-2`]) as ServiceName[]
