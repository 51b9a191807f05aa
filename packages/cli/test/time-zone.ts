import { afterAll, beforeAll } from '@jest/globals'

/** Runs the tests of a file in a time zone. The command line shows times of the zone of its machine. */
export function useTimeZone(zone: string): void {
  let before: string | undefined
  beforeAll(() => {
    before = process.env['TZ']
    process.env['TZ'] = zone
  })
  afterAll(() => {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  })
}
