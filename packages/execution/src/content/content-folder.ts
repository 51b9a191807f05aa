import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'

const HASH = /^[0-9a-f]{64}$/

/** What came is not what was asked for. */
export class WrongContent extends Error {
  override name = 'WrongContent'

  constructor() {
    super('other bytes came than those that were asked for')
  }
}

export interface ContentFolderOptions {
  /** What is held stays even beyond this. */
  maxBytes: number
  /** Something could not be deleted. */
  onProblem(error: unknown): void
}

interface KeptFile {
  size: number
  /** How the file looked when its hash was last found right; null where that has to be looked at again. */
  seal: string | null
}

/** Content by its hash in a folder on this machine, the least recently used out first. */
export class ContentFolder {
  readonly #folder: string
  readonly #options: ContentFolderOptions
  /** In the order of their use. */
  readonly #kept: Map<string, KeptFile>
  readonly #holds = new Map<string, number>()
  /** Of what is just coming. */
  #comingBytes = 0
  #tidying = Promise.resolve()

  private constructor(folder: string, options: ContentFolderOptions, kept: Map<string, KeptFile>) {
    this.#folder = folder
    this.#options = options
    this.#kept = kept
  }

  /** Takes up what an earlier process left. */
  static async open(folder: string, options: ContentFolderOptions): Promise<ContentFolder> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const found: { id: string; size: number; at: number }[] = []
    for (const id of await readdir(folder)) {
      const file = path.join(folder, id)
      if (HASH.test(id)) await stat(file).then(({ size, mtimeMs }) => found.push({ id, size, at: mtimeMs }))
      else await rm(file, { force: true })
    }
    found.sort((a, b) => a.at - b.at)
    const content = new ContentFolder(folder, options, new Map(found.map(({ id, size }) => [id, { size, seal: null }])))
    await content.#makeRoom()
    return content
  }

  has(id: string): boolean {
    return this.#kept.has(id)
  }

  fileOf(id: string): string {
    return path.join(this.#folder, id)
  }

  /** Keeps what has this name, or will have it, until the function that this gives is called. */
  hold(id: string): () => void {
    this.#holds.set(id, (this.#holds.get(id) ?? 0) + 1)
    let held = true
    return () => {
      if (held) this.#release(id)
      held = false
    }
  }

  /** It is used: others go before it. */
  touch(id: string): void {
    const kept = this.#kept.get(id)
    if (!kept) return
    this.#kept.delete(id)
    this.#kept.set(id, kept)
  }

  /** Whether it is what it should be. Reads the file only where it is not just as it was when it was last verified. */
  async isSound(id: string): Promise<boolean> {
    const kept = this.#kept.get(id)
    const file = this.fileOf(id)
    const seal = kept ? await sealOf(file) : null
    if (!kept || seal === null) return false
    if (seal !== kept.seal && (await hashOf(file)) !== id) return false
    kept.seal = seal
    return true
  }

  /** Somebody has read other bytes from it: it is verified before it counts as sound again. */
  verifyAgain(id: string): void {
    const kept = this.#kept.get(id)
    if (kept) kept.seal = null
  }

  /** It counts as not there, until it comes again. */
  drop(id: string): void {
    this.#kept.delete(id)
  }

  /** Takes in what comes, of about this size. Throws WrongContent, what the bytes throw, and errors of this disk. */
  async take(id: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const draft = path.join(this.#folder, `${randomUUID()}.draft`)
    const hash = createHash('sha256')
    let came = 0
    this.#comingBytes += size
    try {
      await this.#makeRoom()
      const handle = await open(draft, 'wx', 0o600)
      try {
        for await (const piece of bytes) {
          came += piece.length
          hash.update(piece)
          await handle.writeFile(piece)
        }
      } finally {
        await handle.close()
      }
      if (hash.digest('hex') !== id) throw new WrongContent()
      await rename(draft, this.fileOf(id))
      this.#kept.delete(id)
      this.#kept.set(id, { size: came, seal: await sealOf(this.fileOf(id)) })
    } finally {
      this.#comingBytes -= size
      await rm(draft, { force: true })
    }
  }

  /** Deletes all that is not held: the disk is full. */
  deleteUnused(): Promise<void> {
    this.#tidying = this.#tidying.then(() => this.#evict(0)).catch(this.#options.onProblem)
    return this.#tidying
  }

  #release(id: string): void {
    const left = (this.#holds.get(id) ?? 1) - 1
    if (left > 0) this.#holds.set(id, left)
    else this.#holds.delete(id)
    void this.#makeRoom()
  }

  /** Deletes what was used longest ago and is not held, until the rest and what is coming fit. */
  #makeRoom(): Promise<void> {
    // One after the other, so that whoever has waited for it knows that nothing is being deleted any more.
    this.#tidying = this.#tidying.then(() => this.#evict(this.#options.maxBytes)).catch(this.#options.onProblem)
    return this.#tidying
  }

  async #evict(maxBytes: number): Promise<void> {
    let bytes = this.#comingBytes
    for (const { size } of this.#kept.values()) bytes += size
    for (const [id, { size }] of [...this.#kept]) {
      if (bytes <= maxBytes) return
      if (this.#holds.has(id)) continue
      this.#kept.delete(id)
      bytes -= size
      await rm(this.fileOf(id), { force: true })
    }
  }
}

/** Changes whenever anybody writes to the file, however they set its times; null where there is none. */
async function sealOf(file: string): Promise<string | null> {
  const found = await stat(file, { bigint: true }).catch(() => null)
  return found && `${found.ino} ${found.size} ${found.ctimeNs}`
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(piece as Buffer)
  return hash.digest('hex')
}
