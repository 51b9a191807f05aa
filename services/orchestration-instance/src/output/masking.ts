import { MASK, MIN_SENSITIVE_LENGTH } from '@slipway/domain'

/** `base64` breaks its lines here, openssl there. */
const BASE64_WIDTHS = [76, 64]

/** Hides sensitive values in text: the value, every line of it, and the forms in which programs like to print it. */
export class Masker {
  readonly #needles: readonly string[]
  readonly #any: RegExp | null
  /** Length of the longest text that is hidden; 0 where there is none. */
  readonly longest: number

  constructor(values: Iterable<string>) {
    const needles = new Set<string>()
    for (const value of values) for (const form of formsOf(value)) needles.add(form)
    this.#needles = [...needles]
    this.#any = this.#needles.length === 0 ? null : new RegExp(this.#needles.map(escapeRegExp).join('|'))
    this.longest = this.#needles.reduce((longest, needle) => Math.max(longest, needle.length), 0)
  }

  mask(text: string): string {
    return this.#any?.test(text) ? this.#replace(text, this.#occurrences(text)) : text
  }

  /**
   * Masks the beginning of a text of which more will come, as far as that is certain already: what is left in `rest`
   * could be the beginning of a value.
   */
  maskBeginning(text: string): { masked: string; rest: string } {
    let end = text.length - Math.max(0, this.longest - 1)
    if (end <= 0) return { masked: '', rest: text }
    const occurrences = this.#any?.test(text) ? this.#occurrences(text) : []
    const crossing = occurrences.find(([from, to]) => from < end && to > end)
    // One that fills the whole text (a value repeated without end) is cut in two: both parts are hidden.
    if (crossing && crossing[0] > 0) end = crossing[0]
    if (isHighSurrogate(text, end - 1)) end -= 1
    const before = occurrences.filter(([from]) => from < end)
    return { masked: this.#replace(text.slice(0, end), before), rest: text.slice(end) }
  }

  /** Where values stand, from and to; those that overlap or touch are one. */
  #occurrences(text: string): [number, number][] {
    const found: [number, number][] = []
    for (const needle of this.#needles) {
      for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1))
        found.push([at, at + needle.length])
    }
    found.sort(([a], [b]) => a - b)
    const merged: [number, number][] = []
    for (const [from, to] of found) {
      const last = merged.at(-1)
      if (last && from <= last[1]) last[1] = Math.max(last[1], to)
      else merged.push([from, to])
    }
    return merged
  }

  #replace(text: string, occurrences: readonly [number, number][]): string {
    let result = ''
    let position = 0
    for (const [from, to] of occurrences) {
      result += text.slice(position, from) + MASK
      position = to
    }
    return result + text.slice(position)
  }
}

function* formsOf(value: string): Generator<string> {
  for (const text of new Set([
    value,
    ...value.split(/[\r\n]+/),
    ...value.split(/[\r\n]+/).map((line) => line.trim()),
  ])) {
    if (text.length < MIN_SENSITIVE_LENGTH) continue
    for (const form of new Set([...plainForms(text), ...base64Forms(text)])) {
      // Output is masked line by line, so what spans lines is never found.
      if (form.length >= MIN_SENSITIVE_LENGTH && !/[\r\n]/.test(form)) yield form
    }
  }
}

function* plainForms(text: string): Generator<string> {
  yield text
  yield JSON.stringify(text).slice(1, -1)
  yield text.replaceAll("'", "'\\''")
  yield text.replaceAll("'", `'"'"'`)
  const bytes = Buffer.from(text, 'utf8')
  // By way of bytes: encodeURIComponent throws on half a character.
  const encoded = encodeURIComponent(bytes.toString('utf8'))
  yield encoded
  yield encoded.replaceAll('%20', '+')
  yield encoded.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase())
  const hex = bytes.toString('hex')
  yield hex
  yield hex.toUpperCase()
}

/** The value may stand at any of three places within groups of three bytes; only what its own bytes decide is hidden. */
function* base64Forms(text: string): Generator<string> {
  const bytes = Buffer.from(text, 'utf8')
  for (let before = 0; before < 3; before++) {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const encoded = padded.replace(/=+$/, '')
    const incomplete = (before + bytes.length) % 3 === 0 ? 0 : 1
    const core = encoded.slice(Math.ceil((before * 4) / 3), encoded.length - incomplete)
    yield core
    yield core.replaceAll('+', '-').replaceAll('/', '_')
    if (before > 0) continue
    yield encoded
    yield padded
    for (const width of BASE64_WIDTHS) {
      if (padded.length > width) for (let at = 0; at < padded.length; at += width) yield padded.slice(at, at + width)
    }
  }
}

function isHighSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code >= 0xd800 && code <= 0xdbff
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
