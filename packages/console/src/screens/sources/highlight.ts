export interface Token {
  kind: 'key' | 'text' | 'value' | 'plain'
  text: string
}

// Contrast of at least 5:1 on the background of a code block, in both themes.
export const TOKEN_COLOURS: Record<Token['kind'], string | undefined> = {
  key: 'light-dark(var(--mantine-color-blue-9), var(--mantine-color-blue-3))',
  text: 'light-dark(var(--mantine-color-teal-9), var(--mantine-color-teal-3))',
  value: 'light-dark(var(--mantine-color-grape-9), var(--mantine-color-grape-3))',
  plain: undefined,
}

const ENTRY = /^(\s*(?:- )*)(?:([\w$-]+|"(?:[^"\\]|\\.)*")(:))?(.*)$/
const BLOCK = /(?::|^\s*(?:- )*-) \|-?$/

/** The tokens of each line of a definition, written as JSON or YAML. */
export function highlightLines(lines: readonly string[]): Token[][] {
  // Lines of a script look like keys, so everything that is indented deeper than the head of a block is plain.
  let blockIndent: number | null = null
  return lines.map((line) => {
    const indent = line.search(/\S/)
    if (blockIndent !== null && (indent === -1 || indent > blockIndent)) return [{ kind: 'plain', text: line }]
    blockIndent = BLOCK.test(line) ? (/^\s*(?:- )*/.exec(line)?.[0].length ?? 0) : null
    return tokensOf(line)
  })
}

function tokensOf(line: string): Token[] {
  const [, indent = '', key = '', colon = '', rest = ''] = ENTRY.exec(line) ?? []
  const tokens: Token[] = [
    { kind: 'plain', text: indent },
    { kind: 'key', text: key },
    { kind: 'plain', text: colon },
    { kind: valueKind(rest.trim().replace(/,$/, '')), text: rest },
  ]
  return tokens.filter(({ text }) => text !== '')
}

function valueKind(value: string): Token['kind'] {
  if (/^(true|false|null|-?\d+(\.\d+)?(e[+-]?\d+)?)$/i.test(value)) return 'value'
  return /^[[\]{}|-]*$/.test(value) ? 'plain' : 'text'
}
