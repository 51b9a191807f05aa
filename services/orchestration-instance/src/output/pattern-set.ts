import { BLANKS, type EncodingReader, type Gap } from './encodings.ts'

/** The result of a search at one position. */
export interface Match {
  /** The end of the longest match; -1 without a match. */
  end: number
  /** How many characters were found of a pattern that more text could complete; -1 if there is none. */
  cutOff: number
}

/** Patterns that are read in the same way. */
export interface PatternKind {
  /** Second spellings of characters: the one in patterns, and the other. */
  alternates?: readonly (readonly [own: string, other: string])[]
  /** The gap that may come before the characters at the `gaps` of a pattern, or before each character. */
  gap?: Gap
  hasPadding?: boolean
}

export interface Pattern {
  text: string
  /** 1 for each character before which a gap may stand. Without it, a gap may stand before each one. */
  gaps?: Uint8Array
}

/** The sorted patterns from `from` to before `to`. They share their first `length` characters. */
interface Node {
  from: number
  to: number
  length: number
  /** Whether the first pattern has no more characters. */
  isPattern: boolean
  /** By the next character. Made when they are read for the first time. */
  children: ReadonlyMap<number, Node> | null
}

/** What was read up to `at` is the beginning of the patterns of a node. */
interface Branch {
  node: Node
  at: number
}

/** How many patterns one step of building reads. */
export const PATTERNS_PER_STEP = 256
const NO_MATCH: Match = { end: -1, cutOff: -1 }
/** Texts that can be read in more ways at once do not occur, unless somebody builds them. */
const MAX_BRANCHES = 64

/**
 * Finds all patterns that begin at one position, each character in any encoding. Patterns are sorted, so those that share a
 * beginning are read together, and their number hardly counts.
 */
export class PatternSet {
  /** The code points of all patterns, each plus 1, with END_OF_PATTERN after each pattern. */
  #codes = new Uint32Array()
  /** Where each pattern starts in `#codes`, in sorted order. */
  #starts = new Uint32Array()
  readonly #gaps: (Uint8Array | null)[] = []
  readonly #gap: Gap | null
  readonly #hasPadding: boolean
  /** The second spelling of a character, or 0; and the reverse. */
  readonly #otherOf = new Uint8Array(128)
  readonly #ownOf = Uint8Array.from({ length: 128 }, (_, unit) => unit)
  readonly #firsts = new Set<number>()
  #root: Node = { from: 0, to: 0, length: 0, isPattern: false, children: null }
  /** The patterns that begin with four characters, by their key. */
  readonly #byBeginning = new Map<number, Node>()

  constructor({ alternates = [], gap, hasPadding = false }: PatternKind) {
    this.#gap = gap ?? null
    this.#hasPadding = hasPadding
    for (const [own, other] of alternates) {
      this.#otherOf[own.charCodeAt(0)] = other.charCodeAt(0)
      this.#ownOf[other.charCodeAt(0)] = own.charCodeAt(0)
    }
  }

  /** Makes the set of these patterns, in short steps. */
  *fill(patterns: readonly Pattern[]): Generator<void, void> {
    const gapsOf = new Map<string, Uint8Array | null>()
    for (const [index, { text, gaps = null }] of patterns.entries()) {
      if (index % PATTERNS_PER_STEP === 0) yield
      gapsOf.set(withLineFeeds(text), gaps)
    }
    const texts = yield* sorted([...gapsOf.keys()])
    this.#codes = new Uint32Array(texts.reduce((size, text) => size + text.length + 1, 0))
    this.#starts = new Uint32Array(texts.length)
    let next = 0
    for (const [index, text] of texts.entries()) {
      if (index % PATTERNS_PER_STEP === 0) yield
      this.#gaps.push(gapsOf.get(text) ?? null)
      this.#starts[index] = next
      for (let at = 0; at < text.length; at += 1) {
        const code = text.codePointAt(at) ?? 0
        if (code > 0xffff) at += 1
        this.#codes[next] = code + 1
        next += 1
      }
      // END_OF_PATTERN stands there already.
      next += 1
    }
    this.#root = this.#nodeOf(0, texts.length)
    yield* this.#readBeginnings()
  }

  *#readBeginnings(): Generator<void, void> {
    const found = new Map<number, { from: number; to: number }>()
    for (let index = 0; index < this.#starts.length; index += 1) {
      if (index % PATTERNS_PER_STEP === 0) yield
      const at = (place: number) => this.#codeAt(index, place) - 1
      this.#firsts.add(at(0))
      const key = keyOf(at(0), at(1), at(2), at(3))
      const known = found.get(key)
      if (known === undefined) found.set(key, { from: index, to: index + 1 })
      else known.to = index + 1
    }
    for (const [key, { from, to }] of found) {
      if (this.#byBeginning.size % PATTERNS_PER_STEP === 0) yield
      this.#byBeginning.set(key, this.#nodeOf(from, to))
    }
  }

  #nodeOf(from: number, to: number): Node {
    let length = 0
    // The first and the last of sorted patterns differ most.
    for (;;) {
      const code = this.#codeAt(from, length)
      if (code === END_OF_PATTERN || code !== this.#codeAt(to - 1, length)) break
      length += 1
    }
    return { from, to, length, isPattern: this.#codeAt(from, length) === END_OF_PATTERN, children: null }
  }

  #childrenOf(node: Node): ReadonlyMap<number, Node> {
    if (node.children !== null) return node.children
    const children = new Map<number, Node>()
    for (let from = node.isPattern ? node.from + 1 : node.from; from < node.to; ) {
      const code = this.#codeAt(from, node.length)
      let to = from + 1
      while (to < node.to && this.#codeAt(to, node.length) === code) to += 1
      children.set(code - 1, this.#nodeOf(from, to))
      from = to
    }
    node.children = children
    return children
  }

  /** Whether a pattern begins with the character. */
  hasFirst(code: number): boolean {
    return this.#firsts.has(this.#own(code))
  }

  match(reader: EncodingReader, start: number): Match {
    const first = this.#begin(reader, start)
    if (first === null) return NO_MATCH
    let branches: Branch[] = [{ node: first, at: start }]
    let end = -1
    let cutOff = -1
    for (let depth = 0; branches.length > 0; depth += 1) {
      const [only] = branches
      if (only !== undefined && branches.length === 1) {
        depth = this.#readPlain(reader, only, depth)
        if (depth < 0) break
      }
      const next: Branch[] = []
      reader.isCutOff = false
      for (const branch of branches) {
        const { node, at } = branch
        if (node.isPattern && node.length === depth) {
          end = Math.max(end, this.#hasPadding ? reader.afterPadding(at) : at)
          if (node.to - node.from === 1) continue
        }
        this.#readEncoded(reader, branch, depth, next)
      }
      if (reader.isCutOff) cutOff = depth
      branches = next
    }
    return end < 0 && cutOff < 0 ? NO_MATCH : { end, cutOff }
  }

  /** The patterns that may begin here: those with the same four characters, if each of these can only be itself. */
  #begin(reader: EncodingReader, at: number): Node | null {
    for (let index = 0; index < BEGINNING; index += 1) if (!this.#isPlain(reader, at + index)) return this.#root
    const { units } = reader
    const own = (index: number) => this.#own(units[at + index] ?? 0)
    return this.#byBeginning.get(keyOf(own(0), own(1), own(2), own(3))) ?? null
  }

  #isPlain(reader: EncodingReader, at: number): boolean {
    return reader.isPlain(at) && !(this.#gap !== null && BLANKS.has(reader.unitAt(at)))
  }

  /**
   * Reads characters that can only be themselves. Stops at the end of a pattern, too. Returns the new depth; -1 if no pattern
   * goes on.
   */
  #readPlain(reader: EncodingReader, branch: Branch, start: number): number {
    const codes = this.#codes
    let { node, at } = branch
    let first = this.#starts[node.from] ?? 0
    let depth = start
    while (this.#isPlain(reader, at)) {
      const code = this.#own(reader.unitAt(at))
      if (depth < node.length) {
        if (codes[first + depth] !== code + 1) return -1
      } else {
        if (node.isPattern) break
        const child = this.#childrenOf(node).get(code)
        if (child === undefined) return -1
        node = child
        first = this.#starts[node.from] ?? 0
      }
      at += 1
      depth += 1
    }
    branch.node = node
    branch.at = at
    return depth
  }

  /** Adds the branches behind the next character, in each of its encodings. */
  #readEncoded(reader: EncodingReader, { node, at }: Branch, depth: number, next: Branch[]): void {
    this.#addBranches(reader, node, at, depth, next, false)
    if (this.#gap === null || depth === 0) return
    const starts: number[] = []
    reader.addGapEnds(at, this.#gap, starts)
    for (const start of starts) this.#addBranches(reader, node, start, depth, next, true)
  }

  #addBranches(
    reader: EncodingReader,
    node: Node,
    at: number,
    depth: number,
    next: Branch[],
    isBehindGap: boolean,
  ): void {
    const add = (code: number, child: Node) => {
      // Patterns that share a beginning have their gaps at the same places of it.
      const gaps = this.#gaps[child.from] ?? null
      if (isBehindGap && gaps !== null && gaps[depth] !== 1) return
      const ends: number[] = []
      reader.addEnds(at, code, ends)
      const other = code < 128 ? this.#otherOf[code] : 0
      if (other) reader.addEnds(at, other, ends)
      for (const end of ends) {
        if (next.length >= MAX_BRANCHES) return
        if (!next.some((known) => known.node === child && known.at === end)) next.push({ node: child, at: end })
      }
    }
    const codes = reader.possibleCodes(at)
    if (depth < node.length) {
      const code = this.#codeAt(node.from, depth) - 1
      if (codes === null || codes.some((each) => this.#own(each) === code)) add(code, node)
      return
    }
    const children = this.#childrenOf(node)
    if (codes === null) for (const [code, child] of children) add(code, child)
    else {
      for (const each of codes) {
        const code = this.#own(each)
        const child = children.get(code)
        if (child !== undefined) add(code, child)
      }
    }
  }

  #codeAt(index: number, depth: number): number {
    return this.#codes[(this.#starts[index] ?? 0) + depth] ?? END_OF_PATTERN
  }

  #own(code: number): number {
    return code < 128 ? (this.#ownOf[code] ?? code) : code
  }
}

/** Sorts in short steps: parts of the list first, and then two sorted parts at a time. */
function* sorted(texts: readonly string[]): Generator<void, string[]> {
  let parts: string[][] = []
  for (let from = 0; from < texts.length; from += PATTERNS_PER_STEP) {
    yield
    parts.push(texts.slice(from, from + PATTERNS_PER_STEP).sort())
  }
  while (parts.length > 1) {
    const merged: string[][] = []
    for (let index = 0; index < parts.length; index += 2) {
      yield
      merged.push(mergeSorted(parts[index] ?? [], parts[index + 1] ?? []))
    }
    parts = merged
  }
  return parts[0] ?? []
}

function mergeSorted(one: readonly string[], other: readonly string[]): string[] {
  const merged: string[] = []
  let next = 0
  for (const text of one) {
    for (let before = other[next]; before !== undefined && before < text; before = other[next]) {
      merged.push(before)
      next += 1
    }
    merged.push(text)
  }
  return merged.concat(other.slice(next))
}

/** Sorts before each character. */
const END_OF_PATTERN = 0
/** No pattern is shorter. */
const BEGINNING = 4

const keyOf = (a: number, b: number, c: number, d: number) => (a << 21) ^ (b << 14) ^ (c << 7) ^ d

/** Every kind of line end is one line feed. */
const withLineFeeds = (text: string) => (text.includes('\r') ? text.replaceAll('\r\n', '\n') : text)
