import { utimes } from 'node:fs/promises'
import { MAX_CONTENT_BYTES } from '@slipway/contracts'
import { ContentFolder, WrongContent } from '@slipway/execution'
import type { Logger } from '@slipway/runtime'
import { Refusal } from './refusal.ts'

/**
 * Content on the disk of the target. Instances bring what is missing; it is verified when it comes, and by every command
 * that copies it.
 */
export class Shelf {
  readonly #content: ContentFolder

  private constructor(content: ContentFolder) {
    this.#content = content
  }

  static async open(folder: string, maxBytes: number, logger: Logger): Promise<Shelf> {
    const onProblem = (error: unknown) => logger.warn('content could not be deleted', { error })
    return new Shelf(await ContentFolder.open(folder, { maxBytes, onProblem }))
  }

  fileOf(id: string): string {
    return this.#content.fileOf(id)
  }

  /** Keeps these until they are released. Throws Refusal with those that are not there. */
  hold(ids: readonly string[]): { release(): void } {
    const missing = [...new Set(ids)].filter((id) => !this.#content.has(id))
    if (missing.length > 0) throw new Refusal('MISSING_CONTENT', 'Content of the files is not here yet', missing)
    const releases = ids.map((id) => this.#content.hold(id))
    for (const id of ids) this.#touch(id)
    return {
      release: () => {
        for (const release of releases) release()
      },
    }
  }

  /** Takes bytes in. Throws Refusal when they are others than their name says. */
  async put(id: string, announced: number, bytes: AsyncIterable<Buffer>): Promise<void> {
    if (announced > MAX_CONTENT_BYTES) throw new Refusal('INVALID', `Content has at most ${MAX_CONTENT_BYTES} bytes`)
    try {
      await this.#content.take(id, announced, bytes)
    } catch (error) {
      if (error instanceof WrongContent) throw new Refusal('INVALID', 'Other bytes came than their hash says')
      const { code, syscall } = error as NodeJS.ErrnoException
      if (syscall === 'read' || code === undefined) throw error
      throw new Refusal('DISK', `The disk of the target does not take the content (${code})`)
    }
  }

  /** It turned out to be damaged. */
  discard(id: string): void {
    this.#content.drop(id)
  }

  #touch(id: string): void {
    this.#content.touch(id)
    // A restart knows by this what was used last.
    void utimes(this.#content.fileOf(id), new Date(), new Date()).catch(() => {})
  }
}
