import Anser from 'anser'

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const TITLES_AND_LINKS = /\u001b\][^\u0007\u001b]*(\u0007|\u001b\\)?/g

/**
 * A line of output with its ANSI colours, as text: markup in it stays markup that can be read. Other escape sequences are
 * left out.
 */
export function AnsiText({ text }: { text: string }) {
  if (!text.includes('\u001b')) return <>{text}</>
  const parts = Anser.ansiToJson(text.replaceAll(TITLES_AND_LINKS, ''), {
    json: true,
    remove_empty: true,
    use_classes: true,
  })
  return (
    <>
      {parts.map((part, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never change
          key={index}
          className={[part.fg, part.bg && `${part.bg}-bg`, ...part.decorations].filter(Boolean).join(' ')}
        >
          {part.content.replaceAll(/\p{Cc}/gu, (control) => (control === '\t' ? control : ''))}
        </span>
      ))}
    </>
  )
}
