import { describe, expect, test } from 'vitest'
import { sharedText, textOf } from './shared-text.ts'

describe('a text as threads may read it', () => {
  test.each([
    ['none', ''],
    ['short', 'héllo 你好 🎈'],
    ['long', 'All work. '.repeat(300_000)],
    ['of pairs that a cut would break', `a${'🎈'.repeat(900_000)}`],
    ['with half a pair at its end', `${'x'.repeat(1_048_575)}\ud83c`],
  ])('%s: is the same text, in memory that nobody copies', async (_name, text) => {
    const shared = await sharedText(text)
    expect(shared.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(textOf(shared) === Buffer.from(text).toString()).toBe(true)
    expect(textOf(text)).toBe(text)
  })
})
