import { stripVTControlCharacters } from 'node:util'

export type Colour = 'red' | 'green' | 'yellow' | 'dim' | 'bold'
const CODES: Record<Colour, number> = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 }

/** Whether people see colours there: a terminal that was not told otherwise. */
export const hasColours = (stream: { isTTY?: boolean }) => stream.isTTY === true && !process.env['NO_COLOR']

export const paint = (text: string, colour: Colour, on: boolean) => (on ? `\x1b[${CODES[colour]}m${text}\x1b[0m` : text)

/** What comes from elsewhere must not move the cursor of whoever reads it. */
export const harmless = (text: string) => stripVTControlCharacters(text).replace(/(?!\t)\p{Cc}/gu, '')
