import { stripVTControlCharacters } from 'node:util'

/** Controls of C1 and of the direction of text. They move the cursor or show text in another order than it has. */
const DECEIVING = '\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069'
const CONTROLS = new RegExp(`[\\u0000-\\u0008\\u000a-\\u001f${DECEIVING}]`, 'g')
const UNESCAPED = new RegExp(`[${DECEIVING}]`, 'g')

/** Removes control characters from text of the server or of commands. Otherwise they could move the cursor. */
export const sanitize = (text: string) => stripVTControlCharacters(text).replace(CONTROLS, '')

/** Escapes what JSON and quoted texts of YAML may contain as it is. The value stays the same. */
export const escapeControls = (quoted: string) =>
  quoted.replace(UNESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Whether a text must be quoted, so that `escapeControls` can escape it. */
export const needsQuotes = (text: string) => text.search(UNESCAPED) >= 0
