import { utimes } from 'node:fs/promises'
import { ContentFolder, WrongContent } from '@slipway/commands'
import { isRefusal } from '@slipway/http'
import type { Logger } from '@slipway/runtime'
import { Refusal } from './refusal.ts'

/** Content on the disk of the target. It is verified when an instance sends it, and by each command that copies it. */
export class ContentStore {
  readonly #content: ContentFolder

  private constructor(content: ContentFolder) {
    this.#content = content
  }

  static async open(folder: string, maxBytes: number, logger: Logger): Promise<ContentStore> {
    const onProblem = (error: unknown) => logger.warn('content could not be deleted', { error })
    return new ContentStore(await ContentFolder.open(folder, { maxBytes, onProblem }))
  }

  fileOf(id: string): string {
    return this.#content.fileOf(id)
  }

  /** Keeps the content until it is released. Throws Refusal with the ids of missing content. */
  hold(ids: readonly string[]): { release(): void } {
    const missing = [...new Set(ids)].filter((id) => !this.#content.has(id))
    if (missing.length > 0) throw new Refusal('MISSING_CONTENT', 'Content is missing: send it first', missing)
    const releases = ids.map((id) => this.#content.hold(id))
    for (const id of ids) this.#touch(id)
    return {
      release: () => {
        for (const release of releases) release()
      },
    }
  }

  /** Stores content. Throws Refusal if its hash differs from its id. */
  async put(id: string, announced: number, bytes: AsyncIterable<Buffer>): Promise<void> {
    try {
      await this.#content.store(id, announced, bytes)
    } catch (error) {
      if (error instanceof WrongContent)
        throw new Refusal('INVALID', `The content does not have the SHA-256 ${id}: send it again`)
      const { code } = error as NodeJS.ErrnoException
      // The body could not be read.
      if (isRefusal(error) || code === undefined) throw error
      throw new Refusal('DISK', `The content cannot be written to the disk of the target (${code})`)
    }
  }

  /** Forgets damaged content, so that an instance sends it again. */
  discard(id: string): void {
    this.#content.drop(id)
  }

  #touch(id: string): void {
    this.#content.touch(id)
    // After a restart, the times of the files tell the order of their use.
    void utimes(this.#content.fileOf(id), new Date(), new Date()).catch(() => {})
  }
}
