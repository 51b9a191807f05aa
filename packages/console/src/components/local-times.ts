const ISO_TIME = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g
const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A sentence of the API with its times in the time zone of the browser. */
export const withLocalTimes = (sentence: string): string =>
  sentence.replaceAll(ISO_TIME, (time) => format.format(new Date(time)))
