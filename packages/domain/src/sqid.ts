import Sqids from 'sqids'

/** Each kind has its own alphabet, so an id in the wrong field finds no record by chance. */
const ALPHABETS = {
  action: 'NTLet4HzXJQfCZdwIFkAvGh9qpBoPj5aYxWDSVbK6inlcyrO18E3mR70gs2UuM',
  sequence: 'i0Z7oc8XjzNvQOtylTh19V3D5YsnMdGKPq2fuawWeEg46xCSBRHFkrpJLUmAIb',
  solution: 'wQXjC19faPKSk7iyRINYMvr5tZEzJW20bumosUpdFqn4lA6HTxc8L3BGgDhVeO',
  target: 'x4vWSlQjpYJaqPoLF0uTtdmfc92rsKMnwXBZgUCEDb81NVk3i7HzhRIAey65OG',
  tenant: 'ICz9DXT8d0gVrlRUEN3nAG6PFuyowWZeYKHh1pL2kSBOamijbJqvsxMQcf475t',
  environment: 'qeHhmJplQztOLdWFDNiPX8oaT36knxbSA5ju7yYw0sRvKMIUcfZ1g9B2GVr4CE',
} as const

export type SqidKind = keyof typeof ALPHABETS
const SQID_MIN_LENGTH = 8

const encoders = new Map<SqidKind, Sqids>()

/** The short id of a record. */
export function encodeSqid(kind: SqidKind, n: number): string {
  return encoderOf(kind).encode([n])
}

/**
 * The number of a short id, or null if the text is not an id of this kind. Accepts only the form that `encodeSqid` produces.
 */
export function decodeSqid(kind: SqidKind, text: string): number | null {
  if (!/^[A-Za-z0-9]{8,32}$/.test(text)) return null
  const numbers = encoderOf(kind).decode(text)
  const [n] = numbers
  if (numbers.length !== 1 || n === undefined || !Number.isSafeInteger(n)) return null
  return encodeSqid(kind, n) === text ? n : null
}

const DASH = 1
const HEX = 2
const KINDS = new Uint8Array(128)
KINDS['-'.charCodeAt(0)] = DASH
for (const digit of '0123456789abcdefABCDEF') KINDS[digit.charCodeAt(0)] = HEX
const UUID = Uint8Array.from('00000000-0000-0000-0000-000000000000', (character) => (character === '-' ? DASH : HEX))

/**
 * Whether the text is a UUID of any version, in upper or lower case. Not a regular expression, because requests contain
 * thousands of ids.
 */
export function isUuid(text: string): boolean {
  if (text.length !== UUID.length) return false
  for (let place = 0; place < UUID.length; place += 1) {
    if (KINDS[text.charCodeAt(place)] !== UUID[place]) return false
  }
  return true
}

function encoderOf(kind: SqidKind): Sqids {
  const known = encoders.get(kind)
  if (known) return known
  const encoder = new Sqids({ alphabet: ALPHABETS[kind], minLength: SQID_MIN_LENGTH })
  encoders.set(kind, encoder)
  return encoder
}
