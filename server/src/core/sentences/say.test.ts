import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { GatewayError } from '../errors/gateway-error.ts'
import { say, sentenceForm, sentenceOfText, withoutLine } from './say.ts'

const SOURCES = fileURLToPath(new URL('../..', import.meta.url))

test('a sentence has its values in place, also where one is a sentence itself', () => {
  const sentence = say('must-be-one-of', { words: 'chat, video' })
  const hint = say('did-you-mean', { sentence, name: 'video' })
  expect(hint.text).toBe('must be one of chat, video; did you mean video?')
  expect(sentenceForm(hint)).toEqual({
    rule: 'did-you-mean',
    values: { sentence: { rule: 'must-be-one-of', values: { words: 'chat, video' } }, name: 'video' },
  })
  expect(sentenceForm(say('missing'))).toEqual({ rule: 'missing' })
})

test('what a client sends is never taken for a place of a value', () => {
  const sentence = say('refers-to-unknown', { what: say('word-model'), name: '{{what}} $& $1' })
  expect(sentence.text).toBe('refers to an unknown model: {{what}} $& $1')
})

test('a line of another row is left out where there are no lines', () => {
  const repeated = say('appears-twice')
  expect(withoutLine(say('first-in-line', { sentence: repeated, line: 3 }))).toEqual(repeated)
  expect(withoutLine(repeated)).toEqual(repeated)
})

test('a library that keeps only the text leads back to the rule', () => {
  expect(sentenceOfText('is missing')?.rule).toBe('missing')
  expect(sentenceOfText('is something else')).toBeUndefined()
})

test('an error tells the rule of its sentence beside its other details', () => {
  const error = new GatewayError(40900, { message: say('request-decided'), details: { batch_id: 'b' } })
  expect(error.message).toBe('this request is decided already')
  expect(error.details).toEqual({ rule: 'request-decided', batch_id: 'b' })
  expect(new GatewayError(40900, { message: 'plain' }).details).toBeUndefined()
})

/** Described for the document; or said of a vendor's video in the vendor's place, by mail, or to a call. */
const ELSEWHERE = /^openapi|^logs\/videos|messages\//

/** Clients show these to people: whatever is said to them has a rule, by which it is translated. */
test('the management API says nothing that has no rule', () => {
  const plain = ['http/management', 'management'].flatMap((folder) =>
    readdirSync(join(SOURCES, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !ELSEWHERE.test(name))
      .flatMap((name) => {
        const code = readFileSync(join(SOURCES, folder, name), 'utf8')
        const errors = [...code.matchAll(/\bmessage:\s*['`](?!ok')[^\n]*/g)]
        const checks = [...code.matchAll(/\.(?:refine|regex|min|max)\((?:[^()]|\([^()]*\))*,\s*['`]/g)]
        const issues = [...code.matchAll(/addIssue\(\{[^}]*message:\s*['`]/g)]
        return [...errors, ...checks, ...issues].map(([found]) => `${folder}/${name}: ${found}`)
      }),
  )
  expect(plain).toEqual([])
})
