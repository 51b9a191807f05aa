import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { newestPath } from './folder.ts'

/** A process reads its file again after this time. Reading it at every look at the clock would slow the process down. */
const REREAD_SECONDS = '1'

/** Clocks of processes that can be put forward and back while the process runs, by libfaketime. */
export class Clocks {
  readonly #library: string
  readonly #folder: string

  private constructor(library: string, folder: string) {
    this.#library = library
    this.#folder = folder
  }

  /** Null where the library is not installed: Debian has it as `libfaketime`. */
  static find(): Clocks | null {
    const library = newestPath('/usr/lib/*/faketime/libfaketimeMT.so.1')
    return library === null ? null : new Clocks(library, fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-clocks-')))
  }

  /** What a process needs in its environment so that its clock can be set. */
  settingsOf(name: string): Record<string, string> {
    this.set(name, 0)
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file(name),
      FAKETIME_CACHE_DURATION: REREAD_SECONDS,
      // A step of a real clock moves no timer.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }

  /** Sets the clock of a process ahead of the true time or behind it, by a number of seconds. */
  set(name: string, seconds: number): void {
    const file = this.#file(name)
    // The process must never read half of a number.
    fs.writeFileSync(`${file}.new`, `${seconds < 0 ? '' : '+'}${seconds}`)
    fs.renameSync(`${file}.new`, file)
  }

  remove(): void {
    fs.rmSync(this.#folder, { recursive: true, force: true })
    // A killed process leaves the shared memory of the library behind.
    for (const name of fs.readdirSync('/dev/shm')) {
      const pid = /faketime_(?:shm|sem)_(\d+)$/.exec(name)?.[1]
      if (pid !== undefined && !fs.existsSync(`/proc/${pid}`)) fs.rmSync(path.join('/dev/shm', name), { force: true })
    }
  }

  #file(name: string): string {
    return path.join(this.#folder, name)
  }
}
