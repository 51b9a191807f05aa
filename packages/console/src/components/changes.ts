function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item) => b.includes(item))
  return a === b
}

/** The fields that differ; lists in another order do not. Another user may have changed the other fields meanwhile. */
export function changesOf<T extends object>(before: { [K in keyof T]?: unknown }, after: T): Partial<T> {
  const names = Object.keys(after) as (keyof T)[]
  const changed = names.filter((name) => !isSame(before[name], after[name]))
  return Object.fromEntries(changed.map((name) => [name, after[name]])) as Partial<T>
}
