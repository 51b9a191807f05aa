/** Calls that run at the same time. More would fill the browser's connections to the server. */
const AT_ONCE = 4

export interface Failure<T> {
  item: T
  error: Error
}

/** Acts on each item, a few at a time, and returns those for which it failed. `onProgress` gets how many are done. */
export async function inBulk<T>(
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
  onProgress: (done: number) => void = () => {},
): Promise<Failure<T>[]> {
  const failures: Failure<T>[] = []
  let [next, done] = [0, 0]
  const work = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) {
      try {
        await act(item)
      } catch (error) {
        failures.push({ item, error: error as Error })
      }
      onProgress(++done)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return failures
}
