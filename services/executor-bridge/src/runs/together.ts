/** So many statements are under way at a time, and each is about so many at most. */
const UNDER_WAY = 3
const MOST = 32

interface Asked<Q, A> {
  question: Q
  resolve(answer: A): void
  reject(error: unknown): void
}

/**
 * Has questions answered together that are asked in one turn, or while others are being answered: about thirty runs the
 * database takes little longer than about one. Where that fails each is asked alone: none fails for the sake of another.
 */
export function together<Q, A>(answer: (questions: Q[]) => Promise<A[]>): (question: Q) => Promise<A> {
  const waiting: Asked<Q, A>[] = []
  let underWay = 0
  let woken = false

  async function settle(asked: Asked<Q, A>[]): Promise<void> {
    try {
      const answers = await answer(asked.map(({ question }) => question))
      for (const [index, { resolve }] of asked.entries()) resolve(answers[index] as A)
    } catch (error) {
      if (asked.length === 1) asked[0]?.reject(error)
      else for (const one of asked) await settle([one])
    }
  }

  function pump(): void {
    while (underWay < UNDER_WAY && waiting.length > 0) {
      underWay += 1
      void settle(waiting.splice(0, MOST)).finally(() => {
        underWay -= 1
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
