import type { Io, OutputStream } from '../io.ts'

export type Colour = 'red' | 'green' | 'yellow' | 'dim' | 'bold'
const ANSI_CODES: Record<Colour, number> = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 }

/** Whether the stream is a terminal and NO_COLOR is not set. */
export const hasColours = (stream: OutputStream, env: Io['env']) => stream.isTTY === true && !env['NO_COLOR']

export const paint = (text: string, colour: Colour, on: boolean) =>
  on ? `\x1b[${ANSI_CODES[colour]}m${text}\x1b[0m` : text
