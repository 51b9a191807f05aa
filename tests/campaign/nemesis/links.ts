import { type FaultFactory, moment } from './fault.ts'

/** Within the patience of every client, yet long enough to reorder what happens. */
const DELAY_MS = 400

export const linkFault: FaultFactory = ({ campaign }, { kind, target }) => {
  const link = campaign.link(target)
  switch (kind) {
    case 'delayed':
      return { inject: () => link.delay(DELAY_MS), heal: () => link.delay(0) }
    case 'silent':
      return { inject: () => link.freeze(), heal: () => link.resume() }
    case 'silent, then lost':
      return {
        inject: () => link.freeze(),
        heal() {
          // New connections work. The earlier ones stay silent for ever.
          link.strand()
          link.resume()
        },
      }
    case 'half-open':
      return moment(() => link.strand())
    case 'cut in the middle of a message':
      return moment(() => link.truncate())
    case 'reset':
      return moment(() => link.reset())
    case 'refused':
      return { inject: () => link.refuse(true), heal: () => link.refuse(false) }
    default:
      throw new Error(`no such fault of links: ${kind}`)
  }
}
