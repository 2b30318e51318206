import { expect, test } from 'vitest'
import type { JsonValue } from '../json.ts'
import { refusesSignatures } from './signature-refusal.ts'

const error = (fields: { readonly [name: string]: JsonValue }): JsonValue => ({ error: fields })

test.each([
  ['a code of OpenAI', 400, error({ code: 'invalid_encrypted_content', message: 'x' }), true],
  [
    'its sentence without the code',
    400,
    error({ code: null, message: 'The encrypted content could not be verified.' }),
    true,
  ],
  [
    'a sentence of Anthropic',
    400,
    error({
      type: 'invalid_request_error',
      message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
    }),
    true,
  ],
  [
    'a sentence of Google',
    400,
    error({ code: 400, status: 'INVALID_ARGUMENT', message: 'Thought signature is not valid.' }),
    true,
  ],
  ['an array around it', 400, [error({ message: 'Function call is missing a thought_signature' })], true],
  [
    'a failed response inside a 200',
    200,
    { response: { error: { code: 'invalid_encrypted_content', message: 'x' } } },
    true,
  ],
  ['something else', 400, error({ message: 'max_tokens is too large' }), false],
  ['a failure that is not the request', 500, error({ message: 'signature service is down' }), false],
  ['no body', 400, undefined, false],
  ['a body that is no object', 400, 'signature', false],
] as const)('%s', (_what, status, body, refused) => {
  expect(refusesSignatures({ status, headers: {}, body })).toBe(refused)
})
