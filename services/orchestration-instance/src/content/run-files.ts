import { type CommandFile, FileError, isNoSpace, NoSpaceError, whenAborted } from '@slipway/commands'
import type { RunFile } from '@slipway/contracts'
import type { ContentCache, HeldContent } from './cache.ts'
import { fetchProblem } from './source.ts'

interface HeldFiles {
  files: CommandFile[]
  release(): void
}

export class RunFiles {
  readonly #cache: ContentCache
  /** The content that this run has fetched; null without `bypass_cache`. */
  readonly #fetched: Set<string> | null

  constructor(cache: ContentCache, bypassCache: boolean) {
    this.#cache = cache
    this.#fetched = bypassCache ? new Set() : null
  }

  /** Throws FileError if a file cannot be fetched, or the reason of the signal if that aborts first. */
  async hold(files: readonly RunFile[], signal: AbortSignal): Promise<HeldFiles> {
    const held: HeldContent[] = []
    const release = () => {
      for (const each of held) each.release()
    }
    try {
      const commandFiles: CommandFile[] = []
      for (const file of files) {
        const content = await this.#holdOne(file, signal)
        held.push(content)
        commandFiles.push({ ...file, source: content.file })
      }
      return { files: commandFiles, release }
    } catch (error) {
      release()
      throw error
    }
  }

  verifyAgain(id: string): void {
    this.#cache.verifyAgain(id)
  }

  async #holdOne({ content, path }: RunFile, signal: AbortSignal): Promise<HeldContent> {
    signal.throwIfAborted()
    const fresh = this.#fetched !== null && !this.#fetched.has(content)
    const holding = this.#cache.hold(content, fresh)
    const abort = whenAborted(signal)
    try {
      const first = await Promise.race([holding, abort.promise])
      if (first !== 'aborted') {
        this.#fetched?.add(content)
        return first
      }
    } catch (error) {
      const message = `the file ${path} could not be fetched: ${fetchProblem(error)}`
      throw isNoSpace(error) ? new NoSpaceError(message) : new FileError(message, content)
    } finally {
      abort.forget()
    }
    // The fetch continues, because other commands may wait for the same content.
    holding.then(
      ({ release }) => release(),
      () => {},
    )
    throw signal.reason
  }
}
