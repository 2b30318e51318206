import { expect, test } from 'vitest'
import { fieldsOf } from './credential-fields.ts'

test.each([
  ['access_key = AK\n\n  secret_key: s=k ', { access_key: 'AK', secret_key: 's=k' }],
  ['', undefined],
  ['access_key =', undefined],
  ['access_key = AK\njust words', undefined],
])('%j', (text, fields) => {
  expect(fieldsOf(text)).toEqual(fields)
})
