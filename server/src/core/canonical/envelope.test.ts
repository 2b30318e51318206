import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeBase64, decodeBase64Bytes, encodeBase64, encodeBase64Bytes } from './media/base64.ts'
import { mayReplay, openSignature, sealSignature } from './envelope.ts'

const kind = fc.constantFrom('summary', 'raw', 'redacted', 'call')
const wellFormed = fc.string({ unit: 'grapheme' })

describe('an envelope', () => {
  test('brings issuer, kind, native id and blob back, whatever letters they hold', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: 'grapheme' }),
        kind,
        wellFormed,
        wellFormed,
        (issuer, of, id, data) => {
          const sealed = sealSignature(
            { issuer: undefined, id: id === '' ? undefined : id, data },
            of,
            issuer,
          )
          expect(openSignature(sealed, 'messages')).toEqual({
            kind: of,
            signature: { issuer, id: id === '' ? undefined : id, data },
          })
        },
      ),
    )
  })

  test('keeps the issuer a signature came with', () => {
    const sealed = sealSignature({ issuer: 'first.one', id: undefined, data: 'x' }, 'raw', 'second')
    expect(openSignature(sealed).signature.issuer).toBe('first.one')
  })

  test('is base64 as a whole, because Gemini clients hold signatures as bytes', () => {
    const sealed = sealSignature({ issuer: undefined, id: 'rs_1', data: 'blöb' }, 'summary', 'openai')
    expect(Buffer.from(sealed, 'base64').toString('base64')).toBe(sealed)
    const urlSafe = sealed.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
    expect(openSignature(urlSafe)).toEqual(openSignature(sealed))
  })

  test.each(['EqQBCgIYAhIM', '', 'Z3cxLg==', 'Z3cxLmE=', 'gw1.a.raw.b.c', 'Z3cx', 'Z3cxL'])(
    '%j is no envelope but a bare blob of its protocol',
    (text) => {
      expect(openSignature(text, 'gemini')).toEqual({
        kind: undefined,
        signature: { issuer: undefined, id: undefined, data: text, protocol: 'gemini' },
      })
    },
  )
})

describe('a blob is replayed (docs/protocols.md#trap-23)', () => {
  const reader = { protocol: 'responses', issuer: 'openai' } as const
  test.each([
    ['to the issuer that made it', { issuer: 'openai', id: undefined, data: 'x' }, true],
    ['to no other issuer', { issuer: 'azure', id: undefined, data: 'x' }, false],
    [
      'in its own protocol when it came bare',
      { issuer: undefined, id: undefined, data: 'x', protocol: 'responses' },
      true,
    ],
    [
      'in no other protocol when it came bare',
      { issuer: undefined, id: undefined, data: 'x', protocol: 'messages' },
      false,
    ],
    ['to nobody when nobody knows where it stood', { issuer: undefined, id: undefined, data: 'x' }, false],
    ['not when there is none', undefined, false],
  ] as const)('%s', (_sentence, signature, expected) => {
    expect(mayReplay(signature, reader)).toBe(expected)
  })
})

describe('base64', () => {
  test('agrees with the engine’s own on every text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64')
        expect(encodeBase64Bytes(bytes)).toBe(text)
        expect(Buffer.from(decodeBase64Bytes(text) ?? [])).toEqual(Buffer.from(bytes))
      }),
    )
  })

  test.each(['*', 'a', 'ab cd', '////8=', 'gICA'])('%j holds no text', (text) => {
    expect(decodeBase64(text)).toBeUndefined()
  })

  test('texts come back', () => expect(decodeBase64(encodeBase64('grüße 🦥'))).toBe('grüße 🦥'))
})
