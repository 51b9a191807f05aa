import { useLayoutEffect, useRef } from 'react'
import { AnsiText } from './ansi-text.tsx'
import './log.css'

interface Props {
  text: string
  /** For screen readers: whose output it is. */
  label: string
  /** Shows its end, also when lines are added; the block is higher. */
  isFollowed?: boolean
}

/** Some lines of output, as the log shows them. */
export function OutputBlock({ text, label, isFollowed = false }: Props) {
  const block = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves with the text
  useLayoutEffect(() => {
    if (isFollowed) block.current?.scrollTo({ top: block.current.scrollHeight })
  }, [isFollowed, text])
  return (
    <section
      ref={block}
      className="output"
      data-high={isFollowed || undefined}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      <AnsiText text={text} />
    </section>
  )
}
