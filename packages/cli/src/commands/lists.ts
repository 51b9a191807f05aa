/** Returns the first records of a list, or all. Reads no more pages than necessary. */
export async function take<T>(records: AsyncIterable<T>, limit = Number.POSITIVE_INFINITY): Promise<T[]> {
  const taken: T[] = []
  for await (const record of records) {
    taken.push(record)
    if (taken.length >= limit) break
  }
  return taken
}
