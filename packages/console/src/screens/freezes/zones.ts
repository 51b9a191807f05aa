const DAY_MS = 86_400_000

export const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

export const ZONES = [...new Set([BROWSER_ZONE, 'UTC', ...Intl.supportedValuesOf('timeZone')])]

const formats = new Map<string, Intl.DateTimeFormat>()

/** How far clocks of the zone are ahead of UTC, in milliseconds. */
function offsetAt(zone: string, moment: number): number {
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  formats.set(zone, format)
  const name = format.formatToParts(moment).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = '0', minutes = '0'] = /^GMT([+-])(\d\d):(\d\d)/.exec(name) ?? []
  const ahead = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === '-' ? -ahead : ahead
}

/** What a clock of the zone shows at this moment, as if it were UTC. */
export const clockTimeAt = (zone: string, moment: number): number => moment + offsetAt(zone, moment)

/** The first moment at which a clock of the zone shows this time. A skipped time is read with the offset from before. */
export function momentOf(zone: string, clockTime: number): number {
  const [before, after] = [offsetAt(zone, clockTime - DAY_MS), offsetAt(zone, clockTime + DAY_MS)]
  const moments = [before, after]
    .map((offset) => clockTime - offset)
    .filter((moment) => clockTimeAt(zone, moment) === clockTime)
  return moments.length === 0 ? clockTime - before : Math.min(...moments)
}
