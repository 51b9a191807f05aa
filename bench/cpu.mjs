import fs from 'node:fs'

const TICKS_A_SECOND = 100

/** CPU seconds that these processes have used. */
export const cpuSeconds = (pids) =>
  pids.reduce((sum, pid) => {
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
  }, 0)
