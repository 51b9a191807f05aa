import { isFinalState } from '@slipway/client'

interface Deployment {
  id: string
  state: string
}

/** The deployments that this page has opened while they ran, until they end. */
export class WatchList<D extends Deployment> {
  /** Another list after each change. */
  running: readonly D[] = []

  /** Notes what a read has shown. `isOpened`: on the screen of the deployment. Returns those that have ended. */
  note(shown: readonly D[], isOpened: boolean): D[] {
    const isWatched = ({ id }: D) => this.running.some((one) => one.id === id)
    const ended = shown.filter((one) => isFinalState(one.state) && isWatched(one))
    const added = isOpened ? shown.filter((one) => !isFinalState(one.state) && !isWatched(one)) : []
    if (ended.length + added.length > 0) {
      this.running = [...this.running.filter(({ id }) => !ended.some((one) => one.id === id)), ...added]
    }
    return ended
  }
}

/** The times between which all of these were created, as the filter of a list. */
export function creationOf(deployments: readonly { created_at: string }[]) {
  const times = deployments.map(({ created_at }) => Date.parse(created_at))
  const at = (time: number) => new Date(time).toISOString()
  return { created_from: at(Math.min(...times)), created_before: at(Math.max(...times) + 1_000) }
}
