import { useSyncExternalStore } from 'react'

/** Tells listeners that something has changed, however often it does, at most once in a period. */
export class Changes {
  readonly #everyMs: number
  readonly #listeners = new Set<() => void>()
  #telling: ReturnType<typeof setTimeout> | undefined
  #version = 0

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  readonly version = () => this.#version

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(): void {
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined
      this.#version += 1
      for (const listener of this.#listeners) listener()
    }, this.#everyMs)
  }
}

/** Draws the component again whenever these changes are told; the number of times that they were. */
export const useChanges = ({ subscribe, version }: Changes): number => useSyncExternalStore(subscribe, version)
