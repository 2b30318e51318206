import { describe, expect, test } from 'vitest'
import { UpstreamRefusal } from './upstream-refusal.ts'

const MIB = 1_048_576

describe('a refusal', () => {
  test('brings its status, its headers and its words, however they were cut', () => {
    const refusal = new UpstreamRefusal({ status: 429, headers: { 'retry-after': '3' } })
    for (const piece of ['{"err', 'or":', '"slow"}']) refusal.push(Buffer.from(piece))
    expect(refusal.failure()).toEqual({
      kind: 'status',
      status: 429,
      headers: { 'retry-after': '3' },
      body: Buffer.from('{"error":"slow"}'),
    })
  })

  test('without a word is one', () => {
    const refusal = new UpstreamRefusal({ status: 503, headers: {} })
    expect(refusal.failure()).toMatchObject({ kind: 'status', status: 503, body: Buffer.alloc(0) })
  })

  test.each([
    { name: 'is kept up to a mebibyte', pieces: [MIB / 2, MIB / 2], kept: MIB },
    { name: 'and the piece that passes it', pieces: [MIB - 1, 10], kept: MIB + 9 },
    { name: 'and nothing more', pieces: [MIB, 10, 10], kept: MIB },
  ])('$name', ({ pieces, kept }) => {
    const refusal = new UpstreamRefusal({ status: 500, headers: {} })
    for (const bytes of pieces) refusal.push(new Uint8Array(bytes))
    const failure = refusal.failure()
    expect(failure.kind === 'status' ? failure.body.byteLength : undefined).toBe(kept)
  })
})
