import { describe, expect, test } from 'vitest'
import { AllowList, mayReach } from './guard.ts'

const NONE = new AllowList([])

describe('a client-chosen URL', () => {
  test.each([
    ['this host', '0.0.0.0'],
    ['private', '10.1.2.3'],
    ['carrier NAT', '100.64.0.1'],
    ['loopback', '127.0.0.1'],
    ['all of loopback', '127.255.255.254'],
    ['link-local, where clouds keep their metadata', '169.254.169.254'],
    ['private', '172.16.0.1'],
    ['the end of private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['protocol assignments', '192.0.0.192'],
    ['benchmarks', '198.18.0.1'],
    ['documentation', '203.0.113.9'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['a cloud’s metadata in carrier NAT', '100.100.100.200'],
    ['loopback', '::1'],
    ['nothing', '::'],
    ['unique local', 'fd00::1'],
    ['a cloud’s metadata', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['multicast', 'ff02::1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped private, hexadecimal', '::ffff:a00:1'],
    ['compatible loopback', '::7f00:1'],
    ['NAT64', '64:ff9b::a00:1'],
    ['6to4 of a private address', '2002:a00:1::1'],
    ['Teredo', '2001::1'],
    ['documentation', '2001:db8::1'],
    ['no address at all', 'localhost'],
  ])('may not reach %s: %s', (_what, address) => {
    expect(mayReach(address, NONE)).toBe(false)
  })

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
  ])('may reach the public address %s', (address) => {
    expect(mayReach(address, NONE)).toBe(true)
  })

  test('may reach what the operator lists, and no more', () => {
    const allow = new AllowList(['10.0.0.0/8', '192.168.1.7', 'fd00::/8'])
    expect(mayReach('10.9.9.9', allow)).toBe(true)
    expect(mayReach('::ffff:10.9.9.9', allow)).toBe(true)
    expect(mayReach('192.168.1.7', allow)).toBe(true)
    expect(mayReach('192.168.1.8', allow)).toBe(false)
    expect(mayReach('fd12::1', allow)).toBe(true)
    expect(mayReach('127.0.0.1', allow)).toBe(false)
  })
})

test.each(['10.0.0.0/33', 'fd00::/129', 'example.com', '10.0.0.0/', '10.0.0.0/x', ''])(
  'the entry %j is refused',
  (entry) => {
    expect(() => new AllowList([entry])).toThrow('not an address or CIDR network')
  },
)
