import fs from 'node:fs'

const bootToStart = Number(fs.readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1_000 - performance.now()

/** Milliseconds since the machine started: the clock of all records. Commands read it too, and no clock fault moves it. */
export const uptime = (): number => Math.round(bootToStart + performance.now())
