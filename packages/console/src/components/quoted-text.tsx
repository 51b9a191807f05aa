import { Code } from '@mantine/core'
import { quotedParts } from './quoted-parts.ts'

/** A sentence of the server. What it quotes in backticks is code. */
export function QuotedText({ text }: { text: string }) {
  return (
    <>
      {quotedParts(text).map((part, index) =>
        part.isCode ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence never change
          <Code key={index} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
            {part.text}
          </Code>
        ) : (
          part.text
        ),
      )}
    </>
  )
}
