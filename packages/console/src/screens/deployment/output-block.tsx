import { AnsiText } from './ansi-text.tsx'
import './log.css'

interface Props {
  text: string
  /** For screen readers: whose output it is. */
  label: string
}

/** Some lines of output, as the log shows them. */
export function OutputBlock({ text, label }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="output" aria-label={label} tabIndex={0}>
      <AnsiText text={text} />
    </section>
  )
}
