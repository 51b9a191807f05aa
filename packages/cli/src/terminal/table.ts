/** Rows under a head, columns aligned; the last column is not padded. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), title.length),
  )
  const last = head.length - 1
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => (column === last ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

/** `name: value` lines with the values below each other; empty values are left out. */
export function facts(pairs: readonly (readonly [string, string | number | null | undefined])[]): string[] {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${`${name}:`.padEnd(width + 1)} ${value}`)
}

/** Not the API's `progress`: that counts skipped, cancelled and rolled-back steps as done. */
export const stepsText = ({ completed_steps, total_steps }: { completed_steps: number; total_steps: number }) =>
  `${completed_steps} of ${total_steps} steps are complete`

/** `2026-11-21 19:05` in UTC: short, and the same on every machine. */
export const timeText = (timestamp: string | null | undefined) =>
  timestamp ? timestamp.slice(0, 16).replace('T', ' ') : '-'

export function durationText(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '-'
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
