/**
 * Finds templates where sh or bash evaluates text as arithmetic or as an array subscript. There the shell runs code in the
 * value: `a[$(id)]` runs `id`. So only a number is allowed there.
 *
 * The search ignores quotes. It may refuse a harmless template, but it misses no dangerous one.
 */

const TEMPLATE = /\{\{[ \t]*([A-Za-z0-9_]+)[ \t]*\}\}/g
const COMPARISON = /[\s](-eq|-ne|-lt|-le|-gt|-ge|-v)\s/
/** Commands that evaluate their words as arithmetic, up to the end of the line. */
const COMMANDS =
  /(?:^|[\s;&|(`{])(?:let|(?:declare|typeset|local|readonly|export)\s+(?:-[A-Za-z]+\s+)*-[A-Za-z]*i[A-Za-z]*|integer|test\s+-v|\[\s+-v)\s([^\n]*)/g

interface Span {
  start: number
  end: number
}

/** The names of templates in arithmetic, without duplicates. */
export function templatesInArithmetic(script: string): string[] {
  // Placeholder words replace the templates, because their braces must not count as the script's.
  const names: string[] = []
  const positions: number[] = []
  const text = script.replace(/\\\n/g, '  ').replace(TEMPLATE, (match, name: string, position: number) => {
    names.push(name)
    positions.push(position)
    return '\u0000'.repeat(match.length)
  })
  const spans = [
    ...between(text, '((', '))'),
    ...between(text, '$[', ']'),
    ...subscripts(text),
    ...substrings(text),
    ...between(text, '[[', ']]').filter(({ start, end }) => COMPARISON.test(text.slice(start, end))),
    ...Array.from(text.matchAll(COMMANDS), (match) => {
      const end = match.index + match[0].length
      return { start: end - (match[1]?.length ?? 0), end }
    }),
  ]
  const isInside = (position: number) => spans.some(({ start, end }) => position >= start && position < end)
  return [...new Set(names.filter((_, index) => isInside(positions[index] ?? 0)))]
}

/** Every span from an opening to its closing text, nested ones too. Without a closing text, to the end of the script. */
function between(text: string, open: string, close: string): Span[] {
  const spans: Span[] = []
  for (let start = text.indexOf(open); start >= 0; start = text.indexOf(open, start + 1)) {
    let depth = 0
    let at = start
    while (at < text.length) {
      if (text.startsWith(open, at)) {
        depth += 1
        at += open.length
      } else if (text.startsWith(close, at)) {
        depth -= 1
        at += close.length
        if (depth === 0) break
      } else at += 1
    }
    spans.push({ start, end: at })
  }
  return spans
}

/** `name[…]`, also in `${name[…]}` and `unset 'name[…]'`. */
const subscripts = (text: string): Span[] =>
  Array.from(text.matchAll(/[A-Za-z_]\w*\[/g), ({ index, 0: match }) => {
    const end = text.indexOf(']', index)
    return { start: index + match.length, end: end < 0 ? text.length : end }
  })

/** `${name:offset:length}`. The colon of a default such as `${name:-x}` does not count. */
const substrings = (text: string): Span[] =>
  Array.from(text.matchAll(/\$\{[^\s{}:]+:(?![-=+?])/g), ({ index, 0: match }) => {
    const end = text.indexOf('}', index)
    return { start: index + match.length, end: end < 0 ? text.length : end }
  })
