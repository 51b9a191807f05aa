import { ansiParts } from './ansi-parts.ts'

interface Props {
  text: string
  /** Its matches are marked. */
  search?: string | undefined
}

/** Output with its ANSI colours, as text: markup in it stays markup that can be read. */
export function AnsiText({ text, search }: Props) {
  return (
    <>
      {ansiParts(text, search).map(({ text, classes, isMatch }, index) => {
        if (!isMatch && classes === '') return text
        const Tag = isMatch ? 'mark' : 'span'
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never change
          <Tag key={index} className={classes}>
            {text}
          </Tag>
        )
      })}
    </>
  )
}
