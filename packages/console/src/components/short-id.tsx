import { Code } from '@mantine/core'

const SHOWN = 12

/** The end of an id, the part that differs most; the whole on hover. */
export function ShortId({ id }: { id: string }) {
  return <Code title={id}>{id.length > SHOWN ? `…${id.slice(-SHOWN)}` : id}</Code>
}
