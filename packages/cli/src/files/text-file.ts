import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'

const LINE_FEED = 0x0a

/** This is not text in UTF-8. Node would replace the bytes silently, and another text would reach the server. */
export class NotUtf8Error extends Error {
  readonly line: number

  constructor(line: number) {
    super('is not UTF-8 from here on: save the file as UTF-8')
    this.line = line
  }
}

/** Returns the text of bytes in UTF-8, of a file or of stdin. Throws NotUtf8Error. */
export function decodeText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  if (isUtf8(bytes)) return text
  const readable = Buffer.from(text)
  const wrong = bytes.findIndex((byte, at) => byte !== readable[at])
  const line = bytes.subarray(0, wrong).reduce((count, byte) => count + (byte === LINE_FEED ? 1 : 0), 1)
  throw new NotUtf8Error(line)
}

/** Reads a text in UTF-8. Throws NotUtf8Error, and the errors of Node. */
export const readTextFile = (file: string): string => decodeText(readFileSync(file))
