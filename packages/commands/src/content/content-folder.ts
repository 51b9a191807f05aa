import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'

const HASH = /^[0-9a-f]{64}$/

/** The received content has another hash than its id. */
export class WrongContent extends Error {
  override name = 'WrongContent'

  constructor() {
    super('the received content does not have the expected SHA-256')
  }
}

interface ContentFolderOptions {
  /** Held content is kept beyond this limit. */
  maxBytes: number
  /** Called when content could not be deleted. */
  onProblem(error: unknown): void
}

interface KeptFile {
  size: number
  /** The version of the file when its hash was last verified; null if the file must be verified again. */
  verifiedVersion: string | null
}

/** A content cache in a folder, by SHA-256. Evicts the least recently used content first. */
export class ContentFolder {
  readonly #folder: string
  readonly #options: ContentFolderOptions
  /** The least recently used content comes first. */
  readonly #kept: Map<string, KeptFile>
  readonly #holds = new Map<string, number>()
  /** The announced size of content that is being received. */
  #incomingBytes = 0
  #evicting = Promise.resolve()

  private constructor(folder: string, options: ContentFolderOptions, kept: Map<string, KeptFile>) {
    this.#folder = folder
    this.#options = options
    this.#kept = kept
  }

  /** Keeps the content of an earlier process. */
  static async open(folder: string, options: ContentFolderOptions): Promise<ContentFolder> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const found: { id: string; size: number; at: number }[] = []
    for (const id of await readdir(folder)) {
      const file = path.join(folder, id)
      if (HASH.test(id)) await stat(file).then(({ size, mtimeMs }) => found.push({ id, size, at: mtimeMs }))
      else await rm(file, { force: true })
    }
    found.sort((a, b) => a.at - b.at)
    const content = new ContentFolder(
      folder,
      options,
      new Map(found.map(({ id, size }) => [id, { size, verifiedVersion: null }])),
    )
    await content.#evictExcess()
    return content
  }

  has(id: string): boolean {
    return this.#kept.has(id)
  }

  fileOf(id: string): string {
    return path.join(this.#folder, id)
  }

  /** Protects present or future content from eviction. Returns a function that ends the protection. */
  hold(id: string): () => void {
    this.#holds.set(id, (this.#holds.get(id) ?? 0) + 1)
    let held = true
    return () => {
      if (held) this.#release(id)
      held = false
    }
  }

  /** Marks the content as most recently used. */
  touch(id: string): void {
    const kept = this.#kept.get(id)
    if (!kept) return
    this.#kept.delete(id)
    this.#kept.set(id, kept)
  }

  /** Whether the content has the right hash. Reads the file only if it has changed since the last verification. */
  async isSound(id: string): Promise<boolean> {
    const kept = this.#kept.get(id)
    const file = this.fileOf(id)
    const version = kept ? await versionOf(file) : null
    if (!kept || version === null) return false
    if (version !== kept.verifiedVersion && (await hashOf(file)) !== id) return false
    kept.verifiedVersion = version
    return true
  }

  /** Makes the next `isSound` read the file, because a reader found wrong bytes. */
  verifyAgain(id: string): void {
    const kept = this.#kept.get(id)
    if (kept) kept.verifiedVersion = null
  }

  /** Treats the content as missing until it is received again. */
  drop(id: string): void {
    this.#kept.delete(id)
  }

  /** Stores content of about this size. Throws WrongContent, errors of the source and errors of the disk. */
  async store(id: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const draft = path.join(this.#folder, `${randomUUID()}.draft`)
    const hash = createHash('sha256')
    let received = 0
    this.#incomingBytes += size
    try {
      await this.#evictExcess()
      const handle = await open(draft, 'wx', 0o600)
      try {
        for await (const piece of bytes) {
          received += piece.length
          hash.update(piece)
          await handle.writeFile(piece)
        }
      } finally {
        await handle.close()
      }
      if (hash.digest('hex') !== id) throw new WrongContent()
      await rename(draft, this.fileOf(id))
      this.#kept.delete(id)
      this.#kept.set(id, { size: received, verifiedVersion: await versionOf(this.fileOf(id)) })
    } finally {
      this.#incomingBytes -= size
      await rm(draft, { force: true })
    }
  }

  /** Deletes all content that is not held. */
  deleteUnused(): Promise<void> {
    return this.#evictTo(0)
  }

  #release(id: string): void {
    const left = (this.#holds.get(id) ?? 1) - 1
    if (left > 0) this.#holds.set(id, left)
    else this.#holds.delete(id)
    void this.#evictExcess()
  }

  #evictExcess(): Promise<void> {
    return this.#evictTo(this.#options.maxBytes)
  }

  /** Evictions run one after another, so no eviction is in progress when this one resolves. */
  #evictTo(maxBytes: number): Promise<void> {
    this.#evicting = this.#evicting.then(() => this.#evict(maxBytes)).catch(this.#options.onProblem)
    return this.#evicting
  }

  async #evict(maxBytes: number): Promise<void> {
    let bytes = this.#incomingBytes
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

/** Changes with each write to the file, because no process can set the change time; null without a file. */
async function versionOf(file: string): Promise<string | null> {
  const found = await stat(file, { bigint: true }).catch(() => null)
  return found && `${found.ino} ${found.size} ${found.ctimeNs}`
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(piece as Buffer)
  return hash.digest('hex')
}
