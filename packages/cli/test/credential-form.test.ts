import { expect, test } from '@jest/globals'
import { type CredentialVariable, checkCredential } from '../src/configuration/credential-form.ts'

const KEY = `svc_${'aB3-_'.repeat(10).slice(0, 49)}`
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'

test.each<[CredentialVariable, string]>([
  ['SLIPWAY_API_KEY', KEY],
  ['SLIPWAY_TOKEN', TOKEN],
])('%s takes its credential', (name, value) => {
  expect(checkCredential(name, value)).toBe(value)
})

test.each<[CredentialVariable, string, string]>([
  ['SLIPWAY_API_KEY', TOKEN, 'holds an access token and no API key: set SLIPWAY_TOKEN'],
  ['SLIPWAY_TOKEN', KEY, 'holds an API key and no access token: set SLIPWAY_API_KEY'],
  ['SLIPWAY_API_KEY', 'ghp_0123456789', 'is no API key of Slipway: a key begins with svc_'],
  ['SLIPWAY_API_KEY', KEY.slice(0, 40), 'it has 40 characters, and a key has 53'],
  ['SLIPWAY_API_KEY', `Bearer ${KEY}`, 'begins with "Bearer"'],
  ['SLIPWAY_TOKEN', `"${TOKEN}"`, 'has quotes around its value'],
  ['SLIPWAY_API_KEY', `${KEY}\n`, 'contains blanks or line breaks'],
])('a wrong %s is named, and never shown: %#', (name, value, message) => {
  const check = () => checkCredential(name, value)
  expect(check).toThrow(message)
  expect(check).not.toThrow(value.trim().slice(-12))
})
