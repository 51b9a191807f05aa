import { EventEmitter } from 'node:events'

/** `changed`: read again. `removed`: the instance was removed. `over`: the timeout came first. */
type WakeUp = 'changed' | 'removed' | 'over'

/**
 * Ends the waiting syncs of this process when an event reports a change. After a lost wake-up, the next sync finds the change.
 */
export class WakeUps {
  readonly #emitter = new EventEmitter().setMaxListeners(0)

  /** How many instances have a waiting sync. */
  get size(): number {
    return this.#emitter.eventNames().length
  }

  wake(instanceId: string, wakeUp: 'changed' | 'removed' = 'changed'): void {
    this.#emitter.emit(instanceId, wakeUp)
  }

  /** After a gap in the events: every waiting sync reads again. */
  wakeAll(): void {
    for (const instanceId of this.#emitter.eventNames()) this.#emitter.emit(instanceId, 'changed')
  }

  /** The next wake-up from now on. Call this before the read, so that no change is missed in between. */
  next(instanceId: string, over: AbortSignal): Promise<WakeUp> {
    return new Promise((resolve) => {
      const finish = (wakeUp: WakeUp) => {
        this.#emitter.off(instanceId, finish)
        over.removeEventListener('abort', onOver)
        resolve(wakeUp)
      }
      const onOver = () => finish('over')
      this.#emitter.once(instanceId, finish)
      over.addEventListener('abort', onOver, { once: true })
      if (over.aborted) onOver()
    })
  }
}
