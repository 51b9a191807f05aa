import { Fragment } from 'react'
import { TargetLink } from './target-link.tsx'

interface Props {
  /** The first of the targets. */
  targets: readonly { id: string; name: string }[]
  /** How many there are in all. */
  count: number
  size?: 'xs' | 'sm'
}

/** Links to the first targets, and how many more there are. */
export function TargetNames({ targets, count, size = 'sm' }: Props) {
  const more = count - targets.length
  return (
    <>
      {targets.map(({ id, name }, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <TargetLink id={id} name={name} size={size} />
        </Fragment>
      ))}
      {more > 0 && ` and ${more.toLocaleString()} more`}
    </>
  )
}
