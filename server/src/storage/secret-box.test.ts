import { describe, expect, test } from 'vitest'
import { createSecretBox } from './secret-box.ts'

const key = (byte: number) => new Uint8Array(32).fill(byte)
const box = createSecretBox(key(1))

describe('secret box', () => {
  test('what was sealed opens under the same key and purpose, whatever it holds', () => {
    for (const plaintext of ['', 'sk-…', 'x'.repeat(10_000), '漢\u0000']) {
      expect(box.open(box.seal(plaintext, 'a'), 'a')).toBe(plaintext)
    }
  })

  test('the same secret never looks the same twice and never shows', () => {
    const first = box.seal('sk-secret', 'a')
    expect(first).not.toBe(box.seal('sk-secret', 'a'))
    expect(Buffer.from(first, 'base64url').toString('latin1')).not.toContain('sk-secret')
  })

  test.each([
    ['another key', (sealed: string) => createSecretBox(key(2)).open(sealed, 'a')],
    ['another purpose: a text copied into another row', (sealed: string) => box.open(sealed, 'b')],
    ['a changed text', (sealed: string) => box.open(`${sealed.slice(0, -2)}AA`, 'a')],
    ['a shortened text', (sealed: string) => box.open(sealed.slice(0, 20), 'a')],
    ['another format', (sealed: string) => box.open(sealed.replace('v1.', 'v2.'), 'a')],
  ])('%s does not open it', (_, open) => {
    expect(() => open(box.seal('sk-secret', 'a'))).toThrow()
  })

  test('a key of another length is refused', () => {
    expect(() => createSecretBox(new Uint8Array(16))).toThrow('32 bytes')
  })
})

test('a fingerprint is the same for the same text and purpose, and another under another key', () => {
  const box = createSecretBox(new Uint8Array(32).fill(1))
  const other = createSecretBox(new Uint8Array(32).fill(2))
  const print = box.fingerprint('123456', 'code:a')
  expect(print).toMatch(/^[0-9a-f]{64}$/)
  expect(createSecretBox(new Uint8Array(32).fill(1)).fingerprint('123456', 'code:a')).toBe(print)
  expect(box.fingerprint('123457', 'code:a')).not.toBe(print)
  expect(box.fingerprint('123456', 'code:b')).not.toBe(print)
  expect(other.fingerprint('123456', 'code:a')).not.toBe(print)
})

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}

describe('a long text, sealed and opened in turns', () => {
  const PIECE = 786_432
  const LONG = [
    ['nothing', ''],
    ['one character', 'ä'],
    ['as long as a piece', 'x'.repeat(PIECE)],
    ['a pair of surrogates across two pieces', `${'x'.repeat(PIECE - 1)}😀${'y'.repeat(PIECE)}`],
    ['bytes of one character in two pieces', `x${'界'.repeat(PIECE)}`],
  ] as const

  test.each(LONG)('is what it was, whichever way it went: %s', async (_what, text) => {
    const inTurns = textOf(await box.sealInTurns(text, 'turn of k: r'))
    const atOnce = box.seal(text, 'turn of k: r')
    expect(inTurns).toHaveLength(atOnce.length)
    expect(box.open(inTurns, 'turn of k: r') === text).toBe(true)
    expect((await box.openInTurns(inTurns, 'turn of k: r')) === text).toBe(true)
    expect((await box.openInTurns(atOnce, 'turn of k: r')) === text).toBe(true)
  })

  test.each(LONG)(
    'is the same whether it comes as text or as bytes cut anywhere: %s',
    async (_what, text) => {
      const bytes = Buffer.from(text)
      const cuts = [0, 1, 2, PIECE + 1, bytes.byteLength].filter((at) => at <= bytes.byteLength)
      const pieces = cuts.map((at, index) => bytes.subarray(at, cuts[index + 1]))
      const sealed = textOf(await box.sealInTurns(pieces, 'turn of k: r'))
      expect(sealed).toHaveLength(box.seal(text, 'turn of k: r').length)
      expect(box.open(sealed, 'turn of k: r') === text).toBe(true)
    },
  )

  test('does not open for another purpose, nor when it was changed at its end', async () => {
    const sealed = textOf(await box.sealInTurns('x'.repeat(2 * PIECE), 'one'))
    await expect(box.openInTurns(sealed, 'other')).rejects.toThrow()
    await expect(box.openInTurns(`${sealed.slice(0, -4)}AAAA`, 'one')).rejects.toThrow()
    await expect(box.openInTurns('v1.AAAA', 'one')).rejects.toThrow(/too short/)
  })

  test('lets others have their turn between its pieces', async () => {
    let turns = 0
    let isCounting = true
    const count = (): void => {
      turns += 1
      if (isCounting) setImmediate(count)
    }
    setImmediate(count)
    const sealed = textOf(await box.sealInTurns('x'.repeat(8 * PIECE), 'p'))
    const afterSealing = turns
    await box.openInTurns(sealed, 'p')
    isCounting = false
    expect(afterSealing).toBeGreaterThan(4)
    expect(turns - afterSealing).toBeGreaterThan(4)
  })
})
