import { TOKEN_COLOURS, type Token } from './highlight.ts'

export function HighlightedLine({ tokens }: { tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map(({ kind, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a line have no other identity
        <span key={index} style={{ color: TOKEN_COLOURS[kind] }}>
          {text}
        </span>
      ))}
      {'\n'}
    </>
  )
}
