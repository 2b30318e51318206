/**
 * Secrets that answers hold, found by the names of fields in every route's answer: each is declared, so that showing it is a
 * security event, and none is shown to an administrator who impersonates the account.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../../../../test/gateway/admin-gateway.ts'
import { type Customer, openCustomer } from '../../../../test/gateway/customer.ts'
import { type JsonSchema, type Operation, operationsOf } from '../../../../test/gateway/operations.ts'

let admin: AdminGateway
let customer: Customer
let operations: readonly Operation[]
beforeAll(async () => {
  admin = await openAdminGateway()
  customer = await openCustomer(admin.gateway)
  operations = await operationsOf(admin.gateway)
})
afterAll(() => admin.close())

/** Words that name what opens something. */
const SECRET = /^(?:secret|.*_secret|token|key|keys|password|codes|.*_codes|otpauth_url|plaintext)$/

/** A session that was just begun by whoever asks: `sign-in.succeeded` tells of it. */
const SIGN_INS = [
  'POST /api/v1/user/user/sign-in',
  'POST /api/v1/user/user/sign-in/link',
  'POST /api/v1/user/user/sign-in/passkey',
  'POST /api/v1/user/user/sign-in/second-factor',
  'POST /api/v1/user/user/register/email',
  'POST /api/v1/user/user/register/phone',
  'POST /api/v1/user/user/password/reset',
  'PUT /api/v1/user/user/password',
]

function fieldsOf(schema: JsonSchema | undefined, depth = 0): readonly string[] {
  if (typeof schema !== 'object' || depth > 12) return []
  const own = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>)
  const below = [
    ...own.map(([, value]) => value),
    ...(['items', 'additionalProperties'] as const).map((name) => schema[name] as JsonSchema | undefined),
    ...(['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const).flatMap(
      (name) => (schema[name] ?? []) as readonly JsonSchema[],
    ),
  ]
  const texts = own.filter(([, value]) => holdsText(value)).map(([name]) => name)
  return [...texts, ...below.flatMap((value) => fieldsOf(value, depth + 1))]
}

/** A field that is text, or a list of it: an object's own fields are looked at by themselves. */
function holdsText(schema: JsonSchema | undefined): boolean {
  if (typeof schema !== 'object') return false
  const type = schema['type']
  if (type === 'string' || (Array.isArray(type) && type.includes('string')))
    return schema['enum'] === undefined && schema['const'] === undefined
  if (schema['type'] === 'array') return holdsText(schema['items'] as JsonSchema | undefined)
  return ((schema['anyOf'] ?? []) as readonly JsonSchema[]).some(holdsText)
}

/** Answers that are no JSON, so that their fields cannot be looked at. */
const OTHER_FORMS = ['POST /api/v1/admin/code-batches/csv']

const nameOf = ({ method, path }: Operation): string => `${method} ${path}`

function withSecrets(): readonly Operation[] {
  return operations.filter(
    (operation) =>
      !operation.isCall &&
      !SIGN_INS.includes(nameOf(operation)) &&
      [...operation.answers].some(
        ([status, schema]) => status.startsWith('2') && fieldsOf(schema).some((field) => SECRET.test(field)),
      ),
  )
}

describe('an answer that holds a secret', () => {
  test('is declared as one, and nothing else is', () => {
    expect([...withSecrets().map(nameOf), ...OTHER_FORMS].toSorted()).toEqual(
      operations
        .filter(({ showsSecret }) => showsSecret)
        .map(nameOf)
        .toSorted(),
    )
  })

  test('is not given to an administrator who impersonates the account', () => {
    // The list of alerts is shown without its secret, below.
    const given = withSecrets().filter(({ impersonator }) => impersonator === 'may')
    expect(given.map(nameOf)).toEqual(['GET /api/v1/user/user/alerts'])
  })
})

describe('an administrator who impersonates a customer', () => {
  const URL_WITH_SECRET = 'https://hooks.example.com/services/T000/B000/very-secret'

  async function looking(): Promise<Record<string, string>> {
    await customer.ask('PATCH', 'account', { alerts: { webhook_url: URL_WITH_SECRET } })
    const answer = await admin.post(`/accounts/${customer.id}/impersonate`, { reason: 'ticket 7' })
    const { token } = answer.body.data as { readonly token: string }
    return { authorization: `Bearer ${token}` }
  }

  test('sees neither the webhook’s secret nor the path of its address, which is often all that protects it', async () => {
    const headers = await looking()
    const alerts = await customer.send('GET', 'alerts', undefined, headers)
    expect(alerts.body.data).toMatchObject({ webhook_secret: null })
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { name: 'Ada' }],
    ] as const) {
      const answer = await customer.send(method, 'account', body, headers)
      expect(answer.status).toBe(200)
      expect(answer.text).not.toContain('very-secret')
      expect(answer.text).toContain('https://hooks.example.com/…')
    }
  })

  test('while its owner sees both', async () => {
    const alerts: { readonly webhook_secret: string } = await customer.ask('GET', 'alerts')
    expect(alerts.webhook_secret).toMatch(/^whsec_/)
    const account: { readonly alerts: { readonly webhook_url: string } } = await customer.ask(
      'GET',
      'account',
    )
    expect(account.alerts.webhook_url).toBe(URL_WITH_SECRET)
  })
})
