import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLog } from './log.ts'
import { createSecurityLog, SECURITY_EVENTS, type SecurityLogSettings } from './security-log.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-security-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

let at = 1_700_000_000_000

function open(settings: Partial<SecurityLogSettings> = {}) {
  const lines: string[] = []
  const { log } = createLog({
    level: 'info',
    now: () => at,
    version: '1',
    destination: { write: (line: string) => void lines.push(line) },
  })
  const counts: string[] = []
  const security = createSecurityLog({
    log,
    now: () => at,
    file: undefined,
    counted: (event) => counts.push(event),
    ...settings,
  })
  return { security, counts, lines: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

describe('security events without a file', () => {
  test('are lines of the log with their name in `event`, refusals as warnings', () => {
    const { security, lines, counts } = open()
    security.note('sign-in.failed', { address: '192.0.2.1', account: undefined, method: 'password' })
    security.note('audit.entry', { action: 'key.create' })
    expect(lines()).toMatchObject([
      { level: 'warn', event: 'sign-in.failed', address: '192.0.2.1', method: 'password' },
      { level: 'info', event: 'audit.entry', action: 'key.create' },
    ])
    expect(counts).toEqual(['sign-in.failed', 'audit.entry'])
  })
})

describe('security events in a file', () => {
  const read = (file: string) =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)

  test('are one JSON object a line, for the owner’s eyes', async () => {
    const file = join(directory, 'security.jsonl')
    const { security, lines } = open({ file })
    security.note('csrf.refused', { path: '/x' })
    security.note('webhook.forged', { provider: 'stripe' })
    await security.close()
    expect(read(file)).toEqual([
      { time: '2023-11-14T22:13:20.000Z', event: 'csrf.refused', path: '/x' },
      { time: '2023-11-14T22:13:20.000Z', event: 'webhook.forged', provider: 'stripe' },
    ])
    expect(statSync(file).mode & 0o077).toBe(0)
    expect(lines()).toEqual([])
  })

  test('go on in a new file when the old one is moved away', async () => {
    const file = join(directory, 'security.jsonl')
    const { security } = open({ file })
    security.note('csrf.refused', {})
    await security.close()
    renameSync(file, `${file}.1`)
    security.note('code.limited', {})
    await security.close()
    expect(read(`${file}.1`)).toMatchObject([{ event: 'csrf.refused' }])
    expect(read(file)).toMatchObject([{ event: 'code.limited' }])
  })

  test('that cannot be written are reported in the log, and the next ones are tried again', async () => {
    let isBroken = true
    const written: string[] = []
    const { security, lines } = open({
      file: '/nowhere',
      append: (_file, text) => {
        if (isBroken) return Promise.reject(new Error('the disk is full'))
        written.push(text)
        return Promise.resolve()
      },
    })
    security.note('csrf.refused', {})
    await security.close()
    isBroken = false
    security.note('code.limited', {})
    await security.close()
    expect(lines()).toMatchObject([{ level: 'error', lines: 1 }])
    expect(written.join('')).toContain('code.limited')
  })

  test('wait for a slow disk up to a bound', async () => {
    let release: () => void = () => undefined
    const first = new Promise<void>((resolve) => {
      release = resolve
    })
    let written = 0
    const { security, lines } = open({
      file: '/slow',
      append: async (_file, text) => {
        await first
        written += text.trim().split('\n').length
      },
    })
    for (let second = 0; second < 60; second += 1) {
      at += 1_000
      for (let event = 0; event < 200; event += 1) security.note('request.limited', {})
    }
    release()
    await security.close()
    expect(written).toBeLessThanOrEqual(10_001)
    expect(lines().filter(({ level }) => level === 'error')).toHaveLength(1)
  })
})

test('a flood of refusals does not fill a disk: what is left out of a second is counted in the next', () => {
  const { security, lines, counts } = open()
  for (let event = 0; event < 1_000; event += 1) security.note('request.limited', {})
  at += 1_000
  security.note('request.limited', {})
  expect(lines()).toHaveLength(202)
  expect(lines().at(-2)).toMatchObject({ event: 'log.suppressed', count: 800 })
  expect(counts).toHaveLength(1_001)
})

test('no line holds a credential or a long text', async () => {
  const file = join(directory, 'security.jsonl')
  const { security } = open({ file })
  security.note('key.address-refused', { key: `sk-${'a'.repeat(40)}`, long: 'x'.repeat(10_000) })
  await security.close()
  chmodSync(file, 0o600)
  const text = readFileSync(file, 'utf8')
  expect(text).not.toContain('aaaa')
  expect(text.length).toBeLessThan(600)
})

test('the operator’s page lists every event with what it means, and no other', () => {
  const page = readFileSync(
    fileURLToPath(new URL('../../../docs/operating/security.md', import.meta.url)),
    'utf8',
  )
  const rows = [...page.matchAll(/^\| `([a-z-]+\.[a-z-]+)` \| (.+) \|$/gm)].map(([, name, meaning]) => [
    name,
    meaning,
  ])
  expect(rows).toEqual(Object.entries(SECURITY_EVENTS))
})
