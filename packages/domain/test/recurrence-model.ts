// Lists the starts of a recurring freeze with a simple model: it checks every day against local clocks.
// It shares no code with the product.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']

/** The local times, written as UTC, at which a rule with this first start begins windows, up to `end`. */
export function listStarts(text: string, first: number, end: number): number[] {
  const rule = new Map(text.split(';').map((part) => part.split('=') as [string, string]))
  const list = (name: string) => rule.get(name)?.split(',').map(Number)
  const frequency = rule.get('FREQ') ?? ''
  const interval = Number(rule.get('INTERVAL') ?? 1)
  const weekStart = WEEKDAYS.indexOf(rule.get('WKST') ?? 'MO')

  const begin = new Date(first)
  const weekday = (day: number) => (new Date(day).getUTCDay() + 6) % 7
  const year = (day: number) => new Date(day).getUTCFullYear()
  const weekOf = (day: number) => day - ((weekday(day) - weekStart + 7) % 7) * DAY
  const isIn = (name: string, fromStart: () => number, fromEnd: () => number) => {
    const wanted = list(name)
    return wanted === undefined || wanted.includes(fromStart()) || wanted.includes(fromEnd())
  }
  const startOfMonth = (day: number) => Date.UTC(year(day), new Date(day).getUTCMonth(), 1)
  const endOfMonth = (day: number) => Date.UTC(year(day), new Date(day).getUTCMonth() + 1, 1)
  const startOfYear = (day: number) => Date.UTC(year(day), 0, 1)
  const endOfYear = (day: number) => Date.UTC(year(day) + 1, 0, 1)

  // The first start provides the parts that the rule leaves out.
  const saysDay = ['BYDAY', 'BYMONTHDAY'].some((name) => rule.has(name))
  if (!saysDay && frequency === 'WEEKLY') rule.set('BYDAY', WEEKDAYS[weekday(first)] ?? '')
  if (!saysDay && (frequency === 'MONTHLY' || frequency === 'YEARLY')) {
    rule.set('BYMONTHDAY', String(begin.getUTCDate()))
    if (frequency === 'YEARLY' && !rule.has('BYMONTH')) rule.set('BYMONTH', String(begin.getUTCMonth() + 1))
  }
  const ofYear = frequency === 'YEARLY' && !rule.has('BYMONTH')

  const isDay = (day: number) =>
    (list('BYMONTH')?.includes(new Date(day).getUTCMonth() + 1) ?? true) &&
    isIn(
      'BYMONTHDAY',
      () => new Date(day).getUTCDate(),
      () => (day - endOfMonth(day)) / DAY,
    ) &&
    (rule.get('BYDAY')?.split(',') ?? WEEKDAYS).some((wanted) => {
      if (WEEKDAYS[weekday(day)] !== wanted.slice(-2)) return false
      const nth = Number(wanted.slice(0, -2))
      if (wanted.length === 2) return true
      const [from, to] = ofYear ? [startOfYear(day), endOfYear(day)] : [startOfMonth(day), endOfMonth(day)]
      const same = []
      for (let other = from; other < to; other += DAY) if (weekday(other) === weekday(day)) same.push(other)
      return same.at(nth > 0 ? nth - 1 : nth) === day
    })

  /** The number of the period that contains the day. INTERVAL counts these periods. */
  const period = (day: number) => {
    if (frequency === 'DAILY') return day / DAY
    if (frequency === 'WEEKLY') return weekOf(day) / DAY / 7
    return frequency === 'MONTHLY' ? year(day) * 12 + new Date(day).getUTCMonth() : year(day)
  }

  const midnight = Math.floor(first / DAY) * DAY
  const periods = new Map<number, number[]>()
  // BYSETPOS needs whole months and years.
  for (let day = startOfYear(first); day <= endOfYear(end); day += DAY) {
    const number = period(day)
    if (!isDay(day) || (number - period(midnight)) % interval !== 0) continue
    periods.set(number, [...(periods.get(number) ?? []), day + first - midnight])
  }
  const positions = list('BYSETPOS')
  const starts = [...periods.values()]
    .flatMap((times) =>
      positions === undefined
        ? times
        : times.filter((_, index) => positions.includes(index + 1) || positions.includes(index - times.length)),
    )
    .filter((time) => time >= first && time <= end)
  return rule.has('COUNT') ? starts.slice(0, Number(rule.get('COUNT'))) : starts
}

/** The local time in the zone at a moment, written as UTC. It uses no offsets. */
export function wallClock(timeZone: string): (moment: number) => number {
  const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hourCycle: 'h23', ...fields })
  const seen = new Map<number, number>()
  return (moment) => {
    const known = seen.get(moment)
    if (known !== undefined) return known
    const part = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
    const time = Date.UTC(part['year'] ?? 0, (part['month'] ?? 1) - 1, part['day'], part['hour'], part['minute'])
    seen.set(moment, time)
    return time
  }
}

/** The first moment with this local time. If clocks skip the time, it is moved by the skipped duration. */
export function momentShowing(wall: (moment: number) => number, time: number): number {
  let before = time - 15 * HOUR
  for (let moment = before; moment < time + 15 * HOUR; moment += 30 * MINUTE) {
    // Clocks change on the half hour, so the local time is continuous within a half hour.
    const start = Math.floor(moment / (30 * MINUTE)) * 30 * MINUTE
    const inside = time - wall(start)
    if (inside >= 0 && inside < 30 * MINUTE && wall(start + inside) === time) return start + inside
    if (inside >= 0) before = start
    else break
  }
  return before + (time - wall(before))
}
