import { Button, type ButtonProps, Tooltip } from '@mantine/core'
import { type ReactNode, type Ref, useId } from 'react'

interface Props extends ButtonProps {
  /** Why the user may not; null while the server is asked. */
  because: string | null
  'aria-label'?: string | undefined
  children: ReactNode
}

/** A button that the user may not use. The keyboard and screen readers reach it, and it says why. */
export function DeniedButton({ because, children, ...button }: Props) {
  const id = useId()
  return (
    <>
      <Tooltip
        label={because ?? 'Asking the server'}
        multiline
        maw={320}
        events={{ hover: true, focus: true, touch: true }}
      >
        <Described reason={id} {...button}>
          {children}
        </Described>
      </Tooltip>
      <span id={id} hidden>
        {because}
      </span>
    </>
  )
}

interface DescribedProps extends ButtonProps {
  reason: string
  children: ReactNode
  ref?: Ref<HTMLButtonElement>
}

/** The tooltip describes its button only while it is open, and passes the button an empty description until then. */
function Described({ reason, ...button }: DescribedProps) {
  return (
    <Button
      {...button}
      type="button"
      data-disabled
      aria-disabled
      aria-describedby={reason}
      onClick={(event) => event.preventDefault()}
    />
  )
}
