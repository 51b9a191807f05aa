import { withoutContext } from '@slipway/runtime'
import { isBusy, isConnectionError } from './failures.ts'

interface TogetherOptions<Q> {
  /** The most groups at a time. Each uses one connection. */
  maxGroups: number
  /** The most queries in a group. */
  maxGroupSize: number
  /** The most weight of a group, unless a single query is heavier. */
  maxGroupWeight?: number
  weightOf?(question: Q): number
}

interface WaitingQuery<Q, A> {
  question: Q
  resolve(answer: A): void
  reject(error: unknown): void
}

/**
 * Combines queries of one turn of the event loop, and queries that arrive while others run. Thirty take the database little
 * longer than one. If the group fails, each query is sent alone, so none fails because of another.
 */
export function answerTogether<Q, A>(
  answer: (questions: readonly Q[]) => Promise<readonly A[]>,
  { maxGroups, maxGroupSize, maxGroupWeight = Number.POSITIVE_INFINITY, weightOf = () => 1 }: TogetherOptions<Q>,
): (question: Q) => Promise<A> {
  const waiting: WaitingQuery<Q, A>[] = []
  let groups = 0
  let woken = false

  async function settle(asked: readonly WaitingQuery<Q, A>[]): Promise<void> {
    try {
      const answers = await answer(asked.map(({ question }) => question))
      for (const [index, { resolve }] of asked.entries()) resolve(answers[index] as A)
    } catch (error) {
      // Without a database, each query alone would fail in turn after a long wait.
      const isDatabaseFault = isConnectionError(error) || isBusy(error)
      if (isDatabaseFault || asked.length === 1) for (const { reject } of asked) reject(error)
      else for (const one of asked) await settle([one])
    }
  }

  function nextSize(): number {
    let size = 0
    for (let weight = 0; size < Math.min(waiting.length, maxGroupSize); size += 1) {
      weight += weightOf((waiting[size] as WaitingQuery<Q, A>).question)
      if (size > 0 && weight > maxGroupWeight) break
    }
    return size
  }

  function pump(): void {
    while (groups < maxGroups && waiting.length > 0) {
      groups += 1
      const group = waiting.splice(0, nextSize())
      // Work for a group must not have the context of a single caller.
      void withoutContext(() => settle(group)).finally(() => {
        groups -= 1
        pump()
      })
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject })
      if (woken) return
      woken = true
      setImmediate(() => {
        woken = false
        pump()
      })
    })
}
