/** Being verified: documents in, a decision out, effective at once. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, postJson, readAnswer } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { decideVerification } from '../../src/management/accounts/verification.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const PATH = '/api/v1/user/user/verification'
const PNG = Buffer.concat([Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'), Buffer.alloc(1_000, 7)])
const PERSON = { kind: 'personal', legal_name: 'Ada Lovelace', id_number: '11010119900307123X' }

let customer: Customer

const { gateway } = await withGateway({
  catalogue: () => [
    ...putVendor('acme', 'http://127.0.0.1:9'),
    putModel('strict', { requiredVerification: 1 }),
    putChain({ model: 'strict', vendor: 'acme' }),
  ],
})
beforeEach(async () => {
  customer = await openCustomer(gateway)
})

async function submit(
  fields: Readonly<Record<string, string>>,
  files: readonly (readonly [name: string, bytes: Uint8Array, fileName: string])[] = [
    ['front', PNG, 'front.png'],
  ],
  headers = customer.headers,
): Promise<Answer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  for (const [name, bytes, fileName] of files) {
    form.append(name, new Blob([new Uint8Array(bytes)], { type: 'text/html' }), fileName)
  }
  return readAnswer(await fetch(gateway.baseUrl + PATH, { method: 'POST', headers, body: form }))
}
const said = ({ status, body }: Answer) => [status, body.code]
const blobs = () => gateway.running.pipeline.blobs
const decide = (id: string, verdict: 'approved' | 'rejected') =>
  decideVerification(gateway.storage, { id, verdict, by: 'acc_admin', reason: 'because', at: Date.now() })
const stored = async (id: string) => {
  const request = await gateway.storage.customers.verifications.find(id)
  if (request === undefined) throw new Error(`no request ${id}`)
  return request
}

describe('a request to be verified', () => {
  test('is submitted, shown without what it states, approved, and effective with the next call [D-accounts-112]', async () => {
    const call = () =>
      postJson(
        `${gateway.baseUrl}/v1/chat/completions`,
        { model: 'strict', messages: [] },
        { authorization: `Bearer ${customer.key}` },
      )
    expect(said(await call())).toEqual([403, 40203])
    const answer = await submit(PERSON, [
      ['front', PNG, '../../etc/front.png'],
      ['back', Buffer.from('%PDF-1.7 and some more'), 'back.pdf'],
    ])
    expect(answer.status).toBe(201)
    const { id } = answer.body.data as { readonly id: string }
    expect(answer.body.data).toMatchObject({
      kind: 'personal',
      status: 'pending',
      documents: [
        { media_type: 'image/png', bytes: PNG.length },
        { name: 'back.pdf', media_type: 'application/pdf' },
      ],
    })
    expect(answer.text).not.toContain(PERSON.id_number)
    expect(answer.text).not.toContain('/etc')
    const { documents, statement } = await stored(id)
    expect(statement).toEqual({ legal_name: PERSON.legal_name, id_number: PERSON.id_number })
    expect(await blobs().find(documents[0]?.blobKey ?? '')).toEqual({
      bytes: PNG.length,
      mediaType: 'image/png',
    })
    await decide(id, 'approved')
    expect((await call()).body.code).not.toBe(40203)
    expect(await customer.ask('GET', 'verification')).toMatchObject({
      verification: 'personal',
      requests: [{ id, status: 'approved', reason: 'because' }],
    })
    expect(await decide(id, 'rejected')).toBeUndefined()
    expect(said(await submit(PERSON))).toEqual([409, 40900])
    const more = await submit({
      kind: 'enterprise',
      company_name: 'Ada & Co',
      registration_number: '91',
      contact_name: 'Ada',
    })
    expect(more.status).toBe(201)
    await gateway.settled()
  })

  test('one at a time: while one is pending another is refused; taken back or rejected, it may be tried again', async () => {
    const first = (await submit(PERSON)).body.data as { readonly id: string }
    expect(said(await submit(PERSON))).toEqual([409, 40900])
    const { documents } = await stored(first.id)
    expect(await customer.ask('DELETE', `verification/${first.id}`)).toMatchObject({ status: 'withdrawn' })
    expect(await blobs().find(documents[0]?.blobKey ?? '')).toBeUndefined()
    expect(said(await customer.send('DELETE', `verification/${first.id}`))).toEqual([409, 40900])
    const second = (await submit(PERSON)).body.data as { readonly id: string }
    await decide(second.id, 'rejected')
    expect(await customer.ask('GET', `verification/${second.id}`)).toMatchObject({ status: 'rejected' })
    expect((await submit(PERSON)).status).toBe(201)
    expect(await customer.ask('GET', 'account')).toMatchObject({ verification: 'none' })
  })

  test('another account’s request is none, and a key may not ask', async () => {
    const { id } = (await submit(PERSON)).body.data as { readonly id: string }
    const other = await openCustomer(gateway)
    expect(said(await other.send('GET', `verification/${id}`))).toEqual([404, 40403])
    expect(said(await other.send('DELETE', `verification/${id}`))).toEqual([404, 40403])
    const asKey = { authorization: `Bearer ${customer.key}` }
    expect(said(await submit(PERSON, undefined, asKey))).toEqual([403, 40304])
  })

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['no kind', { legal_name: 'A', id_number: '1' }, 'kind must be one of'],
    ['nothing stated', { kind: 'personal' }, 'legal_name is missing; id_number is missing'],
    [
      'a field nobody asked for',
      { ...PERSON, verification: 'enterprise' },
      'verification is an unknown field',
    ],
    ['control characters', { ...PERSON, legal_name: 'A\u0007' }, 'control characters'],
  ])('refused: %s', async (_what, fields, message) => {
    const answer = await submit(fields)
    expect(said(answer)).toEqual([400, 40000])
    expect(answer.body.message).toContain(message)
    expect(await customer.ask('GET', 'verification')).toMatchObject({ requests: [] })
  })

  test('documents must be there, few, small, and what they say they are; nothing of a refused form stays', async () => {
    expect((await submit(PERSON, [])).body.message).toContain('documents are missing')
    const many = Array.from({ length: 6 }, (_, index) => [`d${index}`, PNG, 'x.png'] as const)
    expect((await submit(PERSON, many)).body.message).toContain('at most 5 documents')
    const page = [
      ['front', PNG, 'a.png'] as const,
      ['back', Buffer.from('<script>alert(1)</script>'), 'b.png'] as const,
    ]
    expect((await submit(PERSON, page)).body.message).toContain('back must be a PDF, JPEG, PNG or WebP')
    const huge = Buffer.concat([PNG, Buffer.alloc(10 * 1_048_576)])
    expect(said(await submit(PERSON, [['front', huge, 'huge.png']]))).toEqual([413, 41301])
    expect(await customer.ask('GET', 'verification')).toMatchObject({ requests: [] })
  })

  // Much is still on its way then: whoever sends it is answered without all of it being read.
  test.each([
    ['far beyond the size', PNG, [413, 41301]],
    ['of no known kind', Buffer.from('<html>'), [400, 40000]],
  ])('a large document %s is refused at once', async (_what, head, expected) => {
    const large = Buffer.concat([head, Buffer.alloc(40 * 1_048_576)])
    expect(said(await submit(PERSON, [['front', large, 'large.png']]))).toEqual(expected)
    expect(await customer.ask('GET', 'verification')).toMatchObject({ requests: [] })
  })

  test.each([
    ['application/json', '{"kind":"personal"}'],
    ['multipart/form-data', 'x'],
    ['multipart/form-data; boundary=a', 'no form at all'],
    ['multipart/form-data; boundary=a', '--a\r\nContent-Disposition: form-data; name="kind"\r\n\r\npers'],
  ])('a body that is no form is refused: %s', async (type, body) => {
    const headers = { ...customer.headers, 'content-type': type }
    const answer = await readAnswer(await fetch(gateway.baseUrl + PATH, { method: 'POST', headers, body }))
    expect(answer.status).toBe(400)
  })
})

describe('documents', () => {
  const PDF = Buffer.from('%PDF-1.7 and some more')
  const bytesOf = async (path: string, headers: Record<string, string>) => {
    const answer = await fetch(gateway.baseUrl + path, { headers })
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
  }
  const submitted = async (): Promise<string> => {
    const answer = await submit(PERSON, [
      ['front', PNG, 'front.png'],
      ['back', PDF, 'Rück"seite.pdf'],
    ])
    return (answer.body.data as { readonly id: string }).id
  }

  test('an admin reads them as files, and every look is written down', async () => {
    const id = await submitted()
    const { id: admin, headers } = await gateway.newAdmin()
    const path = `/api/v1/admin/verifications/${id}/documents`
    const { answer, bytes } = await bytesOf(`${path}/2`, headers)
    expect(answer.status).toBe(200)
    expect(bytes.equals(PDF)).toBe(true)
    expect(answer.headers.get('content-type')).toBe('application/pdf')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const disposition = answer.headers.get('content-disposition') ?? ''
    expect(disposition).toMatch(/^attachment; filename="[A-Za-z0-9._-]+"; filename\*=UTF-8''[!#-~]+$/)
    const { entries } = await gateway.storage.audit.page(
      { subject: customer.id },
      { limit: 1, cursor: undefined },
    )
    expect(entries).toMatchObject([{ action: 'verification.look', actor: { accountId: admin } }])
    const first = await bytesOf(`${path}/1`, headers)
    expect(first.answer.headers.get('content-type')).toBe('image/png')
    expect((await bytesOf(`${path}/3`, headers)).answer.status).toBe(404)
    expect((await bytesOf(`${path}/0`, headers)).answer.status).toBe(400)
    expect((await bytesOf(`${path}/1`, customer.headers)).answer.status).toBe(403)
  })

  test('only their owner can read them, and they are deleted with the request', async () => {
    const id = await submitted()
    const path = `${PATH}/${id}/documents/1`
    const own = await bytesOf(path, customer.headers)
    expect(own.bytes.equals(PNG)).toBe(true)
    expect(own.answer.headers.get('content-disposition')).toMatch(/^attachment;/)
    expect((await bytesOf(path, (await openCustomer(gateway)).headers)).answer.status).toBe(404)
    expect((await bytesOf(path, { authorization: `Bearer ${customer.key}` })).answer.status).toBe(403)
    await fetch(`${gateway.baseUrl}${PATH}/${id}`, { method: 'DELETE', headers: customer.headers })
    expect((await bytesOf(path, customer.headers)).answer.status).toBe(404)
  })
})

test('a request to be verified is a form: the document says so, and JSON is told so', async () => {
  const answer = await customer.send('POST', 'verification', PERSON)
  expect(said(answer)).toEqual([400, 40000])
  expect(answer.body.message).toContain('multipart/form-data')
  const document = (await (await fetch(`${gateway.baseUrl}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, { readonly post: { readonly requestBody: object } }>>
  }
  expect(document.paths[PATH]?.post.requestBody).toMatchObject({
    required: true,
    content: {
      'multipart/form-data': {
        schema: { required: ['kind', 'documents'], properties: { legal_name: { type: 'string' } } },
      },
    },
  })
})
