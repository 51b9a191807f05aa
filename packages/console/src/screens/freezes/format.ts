import type { Window } from './windows.ts'

const format = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** In the time zone of the browser. */
export const formatMoment = (moment: number) => format.format(moment)
export const formatWindow = ({ start, end }: Window) => format.formatRange(start, end)
