export interface QuotedPart {
  text: string
  isCode: boolean
}

/** A sentence in its parts: what stands between backticks is code. A backtick without a partner is left out. */
export function quotedParts(sentence: string): QuotedPart[] {
  const pieces = sentence.split('`')
  return pieces
    .map((text, index) => ({ text, isCode: index % 2 === 1 && index < pieces.length - 1 }))
    .filter(({ text }) => text !== '')
}
