import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { type AddressRange, clientAddress, limitKey, parseRange, plainAddress } from '../src/client-address.ts'

const range = (text: string) => parseRange(text) as AddressRange
const TRUSTED = ['10.0.0.0/8', '2001:db8:1::/48'].map(range)

function from(socket: string, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return clientAddress({ headers, socket: { remoteAddress: socket } } as unknown as IncomingMessage, TRUSTED)
}

describe('the address of a client', () => {
  test('is the address of the socket if that is no trusted proxy, whatever the header says', () => {
    expect(from('192.0.2.7')).toBe('192.0.2.7')
    expect(from('192.0.2.7', '10.0.0.1')).toBe('192.0.2.7')
    expect(from('::ffff:192.0.2.7', '203.0.113.9')).toBe('192.0.2.7')
  })

  test('is the nearest address that is not of a trusted proxy', () => {
    expect(from('10.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
    expect(from('::ffff:10.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
    expect(from('10.0.0.1', 'spoofed, 198.51.100.1, 203.0.113.9, 10.2.3.4')).toBe('203.0.113.9')
    expect(from('2001:db8:1::5', '2001:db8:9::1, 10.0.0.2')).toBe('2001:db8:9::1')
    expect(from('10.0.0.1', '::ffff:203.0.113.9')).toBe('203.0.113.9')
  })

  test('is the furthest proxy if all are trusted or the header is absent', () => {
    expect(from('10.0.0.1')).toBe('10.0.0.1')
    expect(from('10.0.0.1', '10.0.0.3, 10.0.0.2')).toBe('10.0.0.3')
  })

  test('is the last proxy before a malformed entry', () => {
    for (const nonsense of ['', 'unknown', '_hidden', '999.1.1.1', '1.2.3', '10.0.0.3;x', '[::1']) {
      expect({ nonsense, address: from('10.0.0.1', `203.0.113.9, ${nonsense}, 10.0.0.2`) }).toMatchObject({
        address: '10.0.0.2',
      })
    }
  })

  test('is found in an entry with a port', () => {
    expect(from('10.0.0.1', '203.0.113.9:4711')).toBe('203.0.113.9')
    expect(from('10.0.0.1', '[2001:db8::9]:4711')).toBe('2001:db8::9')
    expect(from('10.0.0.1', '[2001:db8::9]')).toBe('2001:db8::9')
  })
})

describe('address ranges', () => {
  test('contain their addresses in either notation', () => {
    expect(range('10.0.0.0/8').contains('10.255.0.1')).toBe(true)
    expect(range('10.0.0.0/8').contains('::ffff:10.255.0.1')).toBe(true)
    expect(range('10.0.0.0/8').contains('11.0.0.1')).toBe(false)
    expect(range('2001:db8::/32').contains('2001:db8:ffff::1')).toBe(true)
    expect(range('2001:db8::/32').contains('10.0.0.1')).toBe(false)
    expect(range('192.0.2.1').contains('192.0.2.1')).toBe(true)
    expect(range('192.0.2.1').contains('192.0.2.2')).toBe(false)
    expect(range('0.0.0.0/0').contains('203.0.113.9')).toBe(true)
    expect(range('::1').contains('')).toBe(false)
  })

  test.each([
    '',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0/8',
    '::/129',
    '10.0.0.0/8/8',
    'localhost',
    '10.0.0.0/-1',
    '1::%a/64',
  ])('%j is no address range', (text) => {
    expect(parseRange(text)).toBeNull()
  })
})

test('addresses of one IPv6 network of 64 bits count as one, and each IPv4 address counts by itself', () => {
  expect(limitKey('2001:db8:0:1::1')).toBe('2001:db8:0:1::/64')
  expect(limitKey('2001:0DB8::0001:ffff:ffff:ffff:ffff')).toBe('2001:db8:0:1::/64')
  expect(limitKey('2001:db8:0:2::1')).toBe('2001:db8:0:2::/64')
  expect(limitKey('::1')).toBe('0:0:0:0::/64')
  expect(limitKey('64:ff9b::192.0.2.1')).toBe('64:ff9b:0:0::/64')
  expect(limitKey('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
  expect(limitKey('192.0.2.1')).toBe('192.0.2.1')
  for (const mapped of ['::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:c000:0201', '::ffff:192.0.2.1%1']) {
    expect({ mapped, counted: limitKey(mapped) }).toMatchObject({ counted: '192.0.2.1' })
  }
  expect(plainAddress('::ffff:0:192.0.2.1')).toBe('::ffff:0:192.0.2.1')
})
