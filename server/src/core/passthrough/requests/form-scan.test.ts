import { describe, expect, test } from 'vitest'
import { createFormScanner, isForm } from './form-scan.ts'

const TYPE = 'multipart/form-data; boundary="--x-"'
const FORM = [
  '----x-\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n',
  // What looks like the beginning of a boundary, again and again.
  '\r\n----x\r\n-----\r\n--\r\r\n\n',
  '\r\n----x-\r\nContent-Disposition: form-data; name="model"\r\n\r\nlistener',
  '\r\n----x-\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n',
  '\r\n----x---\r\n',
].join('')

/** The form with one field more. */
function field(name: string, value: string): string {
  const part = `\r\n----x-\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}`
  return FORM.replace('\r\n----x---', `${part}\r\n----x---`)
}

function scan(text: string, pieceBytes: number, type = TYPE) {
  const scanner = createFormScanner({ files: ['file'], refused: {} }, type)
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) scanner.push(bytes.subarray(at, at + pieceBytes))
  return scanner.end()
}

test.each([1, 2, 3, 5, 7, 11, 64, 10_000])(
  'a form that comes in pieces of %d bytes is read alike',
  (bytes) => {
    const read = scan(FORM, bytes)
    expect(read).toMatchObject({ kind: 'scanned', model: 'listener', bodyBytes: FORM.length, values: 3 })
    if (read.kind !== 'scanned') return
    expect(read.modelSpans.map(({ start, end }) => FORM.slice(start, end))).toEqual(['listener'])
    expect(read.form?.files.map(({ start, end }) => FORM.slice(start, end))).toEqual([
      '\r\n----x\r\n-----\r\n--\r\r\n\n',
    ])
    expect(read.form?.fields.get('prompt')).toBe('')
  },
)

describe('what two readers could take apart in two ways is refused:', () => {
  test.each([
    ['a boundary that is named twice', `${TYPE}; boundary=other`, FORM],
    ['a boundary in pieces', 'multipart/form-data; boundary*0=--x-', FORM],
    ['something behind the last boundary', TYPE, `${FORM}x`],
    ['something before the first', TYPE, `x\r\n${FORM}`],
    ['a line that is folded', TYPE, FORM.replace('form-data; name="model"', 'form-data;\r\n name="model"')],
    ['a part that holds parts', TYPE, FORM.replace('audio/wav', 'multipart/mixed; boundary=y')],
    ['a name in pieces', TYPE, FORM.replace('name="prompt"', 'name="prompt"; name*0="n"')],
    ['a name with a space', TYPE, FORM.replace('name="prompt"', 'name="model "')],
    ['a list of what is one', TYPE, FORM.replace('name="prompt"', 'name="n[]"')],
    [
      'a mark before a header',
      TYPE,
      FORM.replace(
        'Content-Disposition: form-data; name="p',
        '\uFEFFContent-Disposition: form-data; name="p',
      ),
    ],
    ['names in other letters', `${TYPE}; charset=utf-7`, FORM.replace('name="prompt"', 'name="+AG4-"')],
    ['values in other letters', TYPE, field('_charset_', 'utf-16')],
    ['a number that some readers take for ten', TYPE, field('n', '1_0')],
    ['no number', TYPE, field('n', 'ten')],
    ['a name with an escape', TYPE, FORM.replace('name="prompt"', 'name="mod\\el"')],
  ])('%s', (_what, type, text) => {
    expect(scan(text, 9, type)).toMatchObject({ kind: 'refused', code: 40000 })
  })
})

test('fields that are read are read behind any number of others', () => {
  const long = Array.from({ length: 6 }, (_, at) => [`other${at}`, 'x'.repeat(60_000)] as const)
  const fields = [...long, ['n', '7'], ['stream', 'true'], ['response_format', 'text']] as const
  const parts = fields.map(
    ([name, value]) => `\r\n----x-\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}`,
  )
  const read = scan(FORM.replace('\r\n----x---', `${parts.join('')}\r\n----x---`), 10_000)
  expect(read).toMatchObject({ kind: 'scanned', candidates: 7, stream: true })
  expect(read.kind === 'scanned' && read.form?.fields.get('response_format')).toBe('text')
})

test('only multipart/form-data is a form', () => {
  expect(['multipart/form-data', 'Multipart/Form-Data; boundary=b'].map(isForm)).toEqual([true, true])
  expect([undefined, 'application/json', 'multipart/form-data-x', 'multipart/mixed'].map(isForm)).toEqual([
    false,
    false,
    false,
    false,
  ])
})
