import { expect, test } from 'vitest'
import { normalEmail } from './email-address.ts'

test.each([
  ['case does not matter', 'Person@Example.COM', 'person@example.com'],
  ['blanks around it do not matter', '  person@example.com ', 'person@example.com'],
  ['full-width letters are the plain ones', 'ｐerson@ｅxample.com', 'person@example.com'],
  ['ligatures are their letters', 'oﬃce@example.com', 'office@example.com'],
  ['the Kelvin sign is a k', '\u212Aate@example.com', 'kate@example.com'],
  ['dots and tags are kept', 'a.b+tag@example.com', 'a.b+tag@example.com'],
  ['a domain of other letters is written as the DNS knows it', 'a@пример.рф', 'a@xn--e1afmkfd.xn--p1ai'],
  ['a look-alike domain is visibly another', 'a@ex\u0430mple.com', 'a@xn--exmple-4nf.com'],
  ['an ideographic full stop is a dot', 'a@example。com', 'a@example.com'],
  ['a first start has an owner at localhost', 'owner@localhost', 'owner@localhost'],
])('%s', (_sentence, text, expected) => {
  expect(normalEmail(text)).toBe(expected)
})

test.each([
  ['look-alike letters before the @', 'p\u0435rson@example.com'],
  ['an invisible letter', 'per\u200Bson@example.com'],
  ['no @', 'person'],
  ['nothing before the @', '@example.com'],
  ['nothing behind it', 'person@'],
  ['two of them', 'a@b@example.com'],
  ['a line break', 'person@example.com\nbcc: others@example.com'],
  ['a blank', 'per son@example.com'],
  ['quotes', '"person"@example.com'],
  ['angle brackets', '<person@example.com>'],
  ['a list', 'a@example.com,b@example.com'],
  ['an address of digits', 'person@127.0.0.1'],
  ['a path', 'person@example.com/x'],
  ['a port', 'person@example.com:25'],
  ['percent signs', 'person@ex%61mple.com'],
  ['an empty label', 'person@example..com'],
  ['two dots', 'a..b@example.com'],
  ['more than a mail server takes', `${'a'.repeat(65)}@example.com`],
])('%s is no address', (_what, text) => {
  expect(normalEmail(text)).toBeUndefined()
})
