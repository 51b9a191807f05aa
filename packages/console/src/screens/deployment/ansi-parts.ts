import Anser from 'anser'

export interface AnsiPart {
  text: string
  /** The classes of its colours. */
  classes: string
  /** Whether it is, or belongs to, a match of the search. */
  isMatch: boolean
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const TITLES_AND_LINKS = /\u001b\][^\u0007\u001b]*(\u0007|\u001b\\)?/g
const KEPT = new Set(['\t', '\n'])

/** Output in parts of one colour each. Other escape sequences and control characters are left out. */
export function ansiParts(output: string, search = ''): AnsiPart[] {
  return marked(coloured(asTerminal(output)), search)
}

/** Text after a \r replaces the text before it. */
const asTerminal = (output: string) =>
  output.includes('\r') ? output.replaceAll(/\r+$/gm, '').replaceAll(/^.*\r/gm, '') : output

function coloured(output: string): AnsiPart[] {
  if (!output.includes('\u001b')) return [{ text: printable(output), classes: '', isMatch: false }]
  const parts = Anser.ansiToJson(output.replaceAll(TITLES_AND_LINKS, ''), {
    json: true,
    remove_empty: true,
    use_classes: true,
  })
  return parts.map(({ fg, bg, decorations, content }) => ({
    text: printable(content),
    classes: [fg, bg && `${bg}-bg`, ...decorations].filter(Boolean).join(' '),
    isMatch: false,
  }))
}

const printable = (text: string) => text.replaceAll(/\p{Cc}/gu, (control) => (KEPT.has(control) ? control : ''))

/** Cuts the parts where matches begin and end. A match may span colours. */
function marked(parts: AnsiPart[], search: string): AnsiPart[] {
  if (search === '') return parts
  const text = parts.map((part) => part.text).join('')
  const matches = [...text.matchAll(new RegExp(escaped(search), 'giu'))].map(
    ({ index, 0: { length } }) => [index, index + length] as const,
  )
  if (matches.length === 0) return parts
  const cuts = [...new Set(matches.flat())]
  let at = 0
  return parts.flatMap((part) => {
    const [begin, end] = [at, at + part.text.length]
    at = end
    const edges = [begin, ...cuts.filter((cut) => cut > begin && cut < end), end]
    return edges.slice(1).map((to, index) => {
      const from = edges[index] ?? begin
      return {
        ...part,
        text: part.text.slice(from - begin, to - begin),
        isMatch: matches.some(([first, last]) => from >= first && to <= last),
      }
    })
  })
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
