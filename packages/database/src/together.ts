import { withoutContext } from '@slipway/runtime'
import { isBusy, isConnectionError } from './failures.ts'

export interface TogetherOptions {
  /** So many groups are under way at a time: each takes a connection. */
  underWay: number
  /** So many questions make a group at most. */
  most: number
}

interface Asked<Q, A> {
  question: Q
  resolve(answer: A): void
  reject(error: unknown): void
}

/**
 * Has questions answered together that are asked in one turn, or while others are being answered: about thirty the database
 * takes little longer than about one. Where that fails each is asked alone: none fails for the sake of another.
 */
export function answerTogether<Q, A>(
  answer: (questions: readonly Q[]) => Promise<readonly A[]>,
  { underWay, most }: TogetherOptions,
): (question: Q) => Promise<A> {
  const waiting: Asked<Q, A>[] = []
  let groups = 0
  let woken = false

  async function settle(asked: readonly Asked<Q, A>[]): Promise<void> {
    try {
      const answers = await answer(asked.map(({ question }) => question))
      for (const [index, { resolve }] of asked.entries()) resolve(answers[index] as A)
    } catch (error) {
      // Without a database each would wait for it in turn, and the last for all of them.
      const nobodysFault = isConnectionError(error) || isBusy(error)
      if (nobodysFault || asked.length === 1) for (const { reject } of asked) reject(error)
      else for (const one of asked) await settle([one])
    }
  }

  function pump(): void {
    while (groups < underWay && waiting.length > 0) {
      groups += 1
      const group = waiting.splice(0, most)
      // What is done for all belongs to none of them.
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
