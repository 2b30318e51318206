/**
 * A walk through the management API that meets as many good answers as it can, with something in every list. A step that is
 * refused fails; what could not be reached without a browser or another company's service is not in it.
 */
import type { JsonValue } from '../../src/core/json.ts'
import { parseJson } from '../../src/core/canonical/json-text.ts'
import type { Mailbox } from '../notify/mailbox.ts'
import { walkAccess, walkInvitations } from './access-tour.ts'
import type { AdminGateway } from './admin-gateway.ts'
import type { Answered } from './answer-schemas.ts'
import { postJson } from './client.ts'
import { openCustomer } from './customer.ts'
import { putChain, putGroup, putModel, putVendor } from './gateway.ts'
import { openTeam } from './team.ts'
import { PNG, VIDEO_PRICES } from './videos.ts'

export interface Met extends Answered {
  readonly value: JsonValue
}

export type Headers = Record<string, string>

interface Step {
  /** For the `{names}` of the path, in their order. */
  readonly ids?: readonly string[]
  readonly body?: unknown
  readonly form?: Readonly<Record<string, string | Buffer>>
  readonly query?: string
  readonly headers?: Headers
}

export class Tour {
  readonly met: Met[] = []
  readonly #baseUrl: string

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  /** Asks below `/api/v1/` and remembers the answer, whatever it is. */
  async ask(who: Headers, method: string, path: string, step: Step = {}) {
    const template = `/api/v1/${path}`
    const ids = [...(step.ids ?? [])]
    const url = `${this.#baseUrl}${template.replace(/\{\w+\}/g, () => ids.shift() ?? 'missing')}${step.query ?? ''}`
    const response = await fetch(url, {
      method,
      headers: {
        ...who,
        ...(step.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...step.headers,
      },
      ...(step.body === undefined ? {} : { body: JSON.stringify(step.body) }),
      ...(step.form === undefined ? {} : { body: formOf(step.form) }),
    })
    const text = await response.text()
    const mediaType = (response.headers.get('content-type') ?? '').split(';')[0] ?? ''
    const value = mediaType === 'application/json' ? (parseJson(text) ?? null) : text
    this.met.push({ method, path: template, status: response.status, mediaType, value })
    return {
      status: response.status,
      text,
      data: (value as { readonly data?: unknown } | null)?.data as Data,
    }
  }

  /** The same, for a step that has to succeed. */
  async go(who: Headers, method: string, path: string, step: Step = {}): Promise<Data> {
    const { status, text, data } = await this.ask(who, method, path, step)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return data
  }
}

/** Of any answer: tests that want more of it look for themselves. */
export type Data = Readonly<Record<string, string>> & readonly Readonly<Record<string, string>>[]

function formOf(fields: NonNullable<Step['form']>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new Blob([new Uint8Array(value)], { type: 'image/png' }), `${name}.png`)
  }
  return form
}

export const USER = 'user/user'
const POLICY = { concurrency: 5, windows: [{ dimension: 'requests', limit: 100, seconds: 60 }] }

/** Everything an operator does, then everything a customer, then an organisation; then whoever comes in by a mail. */
export async function tourOf(admin: AdminGateway, mailbox: Mailbox): Promise<readonly Met[]> {
  const tour = new Tour(admin.gateway.baseUrl)
  await admin.gateway.catalogue(
    ...putVendor('acme', admin.upstream.url),
    putModel('plain'),
    putChain({ model: 'plain', vendor: 'acme' }),
    putGroup({ name: 'main', protocol: 'chat', models: ['plain'] }),
    ...putVendor('sandbox', 'http://sandbox.invalid', { kind: 'sandbox' }),
    putModel('clip', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'clip', vendor: 'sandbox', protocol: 'video', forward: 'sandbox-video' }),
  )
  await walkCatalogue(tour, admin)
  const customer = await walkCustomer(tour, admin)
  await walkIdentity(tour, admin)
  await walkOrganisation(tour, admin)
  await walkAccounts(tour, admin, customer)
  const desk = { gateway: admin.gateway, mailbox, headers: admin.headers }
  await walkAccess(tour, desk)
  await walkInvitations(tour, desk)
  return tour.met
}

async function walkCatalogue(tour: Tour, { headers }: AdminGateway): Promise<void> {
  const go = (method: string, path: string, step?: Step) => tour.go(headers, method, `admin/${path}`, step)
  const credentialOf = async (vendor: string) =>
    (await go('GET', 'credentials')).find((one) => one['vendor'] === vendor)?.['id']
  await go('POST', 'vendors', {
    body: { code: 'beta', name: 'Beta', kind: 'openai-compatible', base_url: 'https://beta.example' },
  })
  const credential = await go('POST', 'credentials', {
    body: { vendor: 'beta', name: 'second', secret: 'sk-beta', limits: POLICY },
  })
  await go('GET', 'credentials')
  await go('POST', 'credentials/{id}/test', { ids: [String(await credentialOf('acme'))] })
  await go('GET', 'vendor-kinds')
  await go('GET', 'credentials/{id}', { ids: [String(credential['id'])] })
  await go('PATCH', 'credentials/{id}', { ids: [String(credential['id'])], body: { status: 'enabled' } })
  await go('GET', 'vendors')
  await go('GET', 'vendors/{id}', { ids: ['beta'] })
  await go('PATCH', 'vendors/{id}', { ids: ['beta'], body: { name: 'Beta again' } })
  const pricing = { currency: 'CNY', billing_modes: ['token'], input_price: 10, output_price: 30 }
  await go('POST', 'models', { body: { model_id: 'other', name: 'Other', pricing } })
  await go('GET', 'models')
  await go('GET', 'models/{id}', { ids: ['other'] })
  await go('PATCH', 'models/{id}', { ids: ['other'], body: { required_plan: 0, context_tokens: 1_000 } })
  const chain = await go('POST', 'chains', {
    body: {
      model_id: 'other',
      vendor: 'beta',
      protocol: 'chat',
      credential: 'second',
      capabilities: { tools: true },
    },
  })
  const ids = [String(chain['id'])]
  await go('GET', 'chains')
  await go('GET', 'chains/{id}', { ids })
  await go('PATCH', 'chains/{id}', { ids, body: { priority: 3 } })
  for (const act of ['disable', 'enable', 'drain', 'reset']) await go('POST', `chains/{id}/${act}`, { ids })
  await go('POST', 'groups', { body: { name: 'side', protocol: 'chat', models: ['other'] } })
  await go('GET', 'groups')
  await go('GET', 'groups/{id}', { ids: ['side'] })
  await go('GET', 'groups/{id}/keys', { ids: ['side'] })
  await go('PATCH', 'groups/{id}', { ids: ['side'], body: { models: [] } })
  await go('DELETE', 'groups/{id}', { ids: ['side'] })
  await go('GET', 'presets')
  await go('GET', 'presets/{id}', { ids: ['deepseek'] })
  await go('POST', 'presets/{id}/add', { ids: ['deepseek'], body: { key: 'sk-deep' } })
  await go('GET', 'settings')
  await go('PATCH', 'settings', { body: { currencies: { USD: '7200' } } })
  const change = await go('POST', 'price-changes', {
    body: { model_id: 'other', effective_at: Date.now() + 86_400_000, pricing },
  })
  await go('GET', 'price-changes')
  await go('DELETE', 'price-changes/{id}', { ids: [String(change['id'])] })
  await go('POST', 'prices/import', {
    body: { file: 'models:\n  - model_id: plain\n    pricing: {input_price: 20, output_price: 60}\n' },
  })
  await go('PUT', 'top-up-packages/{code}', { ids: ['small'], body: { name: 'Small', price: 10, yuan: 10 } })
  await go('GET', 'top-up-packages')
  await go('DELETE', 'top-up-packages/{code}', { ids: ['small'] })
  await go('POST', 'plans', {
    body: { code: 'PRO', level: 2, price: 1, period_days: 30, quota: [{ credits: 1_000, seconds: 3_600 }] },
  })
  await go('POST', 'plans', { body: { code: 'MAX', level: 2, price: 2, period_days: 30, quota: [] } })
  await go('GET', 'plans')
  await go('GET', 'plans/{id}', { ids: ['PRO'] })
  await go('PATCH', 'plans/{id}', { ids: ['PRO'], body: { price: 2 } })
  const news = await go('POST', 'announcements', { body: { title: 'News', body: 'Of today', level: 'info' } })
  await go('GET', 'announcements')
  await go('PATCH', 'announcements/{id}', { ids: [String(news['id'])], body: { level: 'warning' } })
  await tour.go({}, 'GET', `${USER}/announcements`)
  await go('DELETE', 'announcements/{id}', { ids: [String(news['id'])] })
}

type Customer = Awaited<ReturnType<typeof openCustomer>>

async function walkCustomer(tour: Tour, admin: AdminGateway): Promise<Customer> {
  const { gateway } = admin
  const customer = await openCustomer(gateway, { balanceYuan: 100 })
  const go = (method: string, path: string, step?: Step) =>
    tour.go(customer.headers, method, `${USER}/${path}`, step)
  await admin.call('plain', customer.key)
  const made = await postJson(
    `${gateway.baseUrl}/v1/videos`,
    { model: 'clip', prompt: 'a cat', seconds: '2' },
    { authorization: `Bearer ${customer.key}` },
  )
  if (made.status !== 200) throw new Error(`no video: ${made.text}`)
  await gateway.settled()
  await tour.ask(customer.headers, 'GET', `${USER}/account`)
  await go('PATCH', 'account', {
    body: { name: 'Ann', auto_exchange: { enabled: false }, fallback_model: 'plain' },
  })
  for (const path of [
    'admission',
    'alerts',
    'groups',
    'keys',
    'keys/limits',
    'logs',
    'logs/totals',
    'models',
    'plans',
    'pricing',
  ])
    await go('GET', path)
  await go('GET', 'usage', { query: '?group_by=model' })
  for (const path of [
    'linked-services',
    'second-factors',
    'sessions',
    'statements',
    'top-up-offers',
    'top-ups',
    'verification',
  ])
    await go('GET', path)
  const key = await go('POST', 'keys', { body: { name: 'second', policy: POLICY } })
  const ids = [String(key['id'])]
  for (const path of ['keys/{id}', 'keys/{id}/limits', 'keys/{id}/usage']) await go('GET', path, { ids })
  await go('PATCH', 'keys/{id}', { ids, body: { name: 'other' } })
  await go('POST', 'keys/{id}/rotate', { ids, body: { overlap_seconds: 60 } })
  await go('DELETE', 'keys/{id}', { ids })
  await tour.go({ authorization: `Bearer ${customer.key}` }, 'GET', `${USER}/key`)
  await go('PUT', 'byok/{vendor}', { ids: ['acme'], body: { secret: 'sk-own' } })
  await go('GET', 'byok')
  await go('PATCH', 'byok/{vendor}', { ids: ['acme'], body: { enabled: false } })
  await go('DELETE', 'byok/{vendor}', { ids: ['acme'] })
  await go('POST', 'explain', { body: { key_id: customer.keyId, body: { model: 'plain', messages: [] } } })
  await go('POST', 'exchange', { body: { yuan: 1 }, headers: { 'idempotency-key': 'tour-exchange' } })
  await go('GET', 'subscription/quote', { query: '?plan=PRO' })
  await go('POST', 'subscription', { body: { plan: 'PRO' }, headers: { 'idempotency-key': 'tour-plan' } })
  await go('GET', 'subscription')
  await go('PATCH', 'subscription', { body: { auto_renew: false } })
  await go('DELETE', 'subscription')
  const batch = await tour.go(admin.headers, 'POST', 'admin/code-batches', {
    body: { credits: 5, count: 2, note: 'tour' },
    headers: { 'idempotency-key': 'tour-batch' },
  })
  const codes = batch['codes'] as unknown as readonly string[]
  await go('POST', 'redeem', { body: { code: codes[0] } })
  await tour.go(admin.headers, 'POST', 'admin/codes/void', { body: { code: codes[1] } })
  await tour.go(admin.headers, 'POST', 'admin/code-batches/csv', {
    body: { credits: 5, count: 2 },
    headers: { 'idempotency-key': 'tour-csv' },
  })
  await tour.go(admin.headers, 'POST', 'admin/explain', {
    body: { key_id: customer.keyId, body: { model: 'plain', messages: [] } },
  })
  await tour.go(admin.headers, 'POST', 'admin/gateway-file', {
    body: { file: 'vendors: []\n', missing: 'stays' },
  })
  const request = await go('POST', 'verification', {
    form: { kind: 'personal', legal_name: 'Ada Lovelace', id_number: '11010119900307123X', front: PNG },
  })
  await go('GET', 'verification/{id}', { ids: [String(request['id'])] })
  await go('GET', 'verification/{id}/documents/{number}', { ids: [String(request['id']), '1'] })
  return customer
}

async function walkIdentity(tour: Tour, { gateway }: AdminGateway): Promise<void> {
  const person = await openCustomer(gateway)
  const go = (method: string, path: string, step?: Step) =>
    tour.go(person.headers, method, `${USER}/${path}`, step)
  await tour.go({}, 'GET', `${USER}/sign-in/options`)
  await tour.go({}, 'GET', `${USER}/sign-in/services`)
  await tour.go({}, 'POST', `${USER}/sign-in/passkey/options`, { body: {} })
  await go('POST', 'second-factors/passkeys/options', { body: {} })
  await go('POST', 'second-factors/totp', { body: {} })
  const request = await go('POST', 'verification', {
    form: {
      kind: 'enterprise',
      company_name: 'Acme',
      registration_number: '91350211M000100Y43',
      contact_name: 'Ada',
      license: PNG,
    },
  })
  await go('DELETE', 'verification/{id}', { ids: [String(request['id'])] })
  await go('GET', 'logs/export')
  await go('GET', 'statements/export')
  const other = await gateway.signIn(person.id)
  await go('DELETE', 'sessions/{id}', { ids: [other.sessionId] })
  await go('DELETE', 'sessions')
  await go('POST', 'sign-out')
  const { headers } = await gateway.signIn(person.id)
  await tour.go(headers, 'PUT', `${USER}/password`, { body: { password: 'a long password 1' } })
}

async function walkOrganisation(tour: Tour, { gateway }: AdminGateway): Promise<void> {
  const team = await openTeam(gateway)
  const owner = team.owner.headers
  const go = (method: string, path: string, step: Step = {}) =>
    tour.go(owner, method, `${USER}/organisations/{organisation}${path}`, {
      ...step,
      ids: [team.id, ...(step.ids ?? [])],
    })
  await tour.go(owner, 'POST', `${USER}/organisations`, { body: { name: 'Another' } })
  await tour.go(owner, 'GET', `${USER}/organisations`)
  await go('GET', '')
  await go('PATCH', '', { body: { name: 'Acme and Sons' } })
  await go('GET', '/members')
  const ids = [String(team.member.member)]
  await go('GET', '/members/{member}', { ids })
  await go('PATCH', '/members/{member}', { ids, body: { monthly_cap_yuan: 10, policy: POLICY } })
  await go('GET', '/invitations')
  await go('GET', '/usage')
  await go('POST', '/fund', { body: { credits: 10 }, headers: { 'idempotency-key': 'tour-fund' } })
  await tour.go(team.member.headers, 'POST', `${USER}/organisations/{organisation}/leave`, { ids: [team.id] })
  await go('DELETE', '/members/{member}', { ids: [String(team.admin.member)] })
}

async function walkAccounts(tour: Tour, admin: AdminGateway, customer: Customer): Promise<void> {
  const go = (method: string, path: string, step?: Step) =>
    tour.go(admin.headers, method, `admin/${path}`, step)
  const ids = [String(customer.id)]
  await go('GET', 'accounts')
  await go('GET', 'accounts/{id}', { ids })
  const made = await go('POST', 'accounts', {
    body: { email: 'new@example.com', password: 'a long password 1' },
  })
  await go('PATCH', 'accounts/{id}', { ids: [String(made['id'])], body: { user_rate: 90 } })
  const login = { email: 'new@example.com', password: 'a long password 1' }
  await tour.go({}, 'POST', `${USER}/sign-in`, { body: login })
  await go('POST', 'accounts/{id}/suspend', { ids: [String(made['id'])], body: { reason: 'a test' } })
  await go('POST', 'accounts/{id}/activate', { ids: [String(made['id'])] })
  await go('POST', 'accounts/{id}/grants', {
    ids,
    body: { credits: 5, reason: 'a test' },
    headers: { 'idempotency-key': 'tour-grant' },
  })
  await go('POST', 'accounts/{id}/impersonate', { ids, body: { reason: 'a test' } })
  await go('GET', 'audit')
  await go('GET', 'audit/verify')
  const [batch] = await go('GET', 'code-batches')
  const batchIds = [String(batch?.['id'])]
  await go('GET', 'code-batches/{id}', { ids: batchIds })
  await go('GET', 'code-batches/{id}/codes', { ids: batchIds })
  await go('POST', 'code-batches/{id}/void', { ids: batchIds })
  for (const path of [
    'findings',
    'free-calls',
    'health',
    'keys',
    'logs',
    'logs/totals',
    'margin',
    'margin/accounts',
    'organisations',
    'statistics',
    'top-ups',
    'verifications',
    'videos',
  ])
    await go('GET', path)
  const [video] = await go('GET', 'videos', { query: '?show=all' })
  await go('GET', 'videos/{id}', { ids: [String(video?.['id'])] })
  const [chain] = await go('GET', 'chains', { query: '?model_id=plain' })
  await go('POST', 'chains/{id}/test', { ids: [String(chain?.['id'])] })
  for (const path of ['logs/export', 'audit/export', 'gateway-file']) await go('GET', path)
  const [organisation] = await go('GET', 'organisations')
  const organisationIds = [String(organisation?.['id'])]
  await go('GET', 'organisations/{id}', { ids: organisationIds })
  await go('GET', 'organisations/{id}/members', { ids: organisationIds })
  const [request] = await go('GET', 'verifications', { query: '?status=pending' })
  const requestIds = [String(request?.['id'])]
  await go('GET', 'verifications/{id}', { ids: requestIds })
  await go('GET', 'verifications/{id}/documents/{number}', { ids: [...requestIds, '1'] })
  await go('POST', 'verifications/{id}/decide', {
    ids: requestIds,
    body: { verdict: 'rejected', reason: 'a test' },
  })
  await go('POST', 'verify')
  await go('GET', 'audit')
  const key = await go('POST', 'accounts/{id}/keys', { ids, body: { name: 'build', policy: POLICY } })
  const keyIds = [...ids, String(key['id'])]
  await go('PATCH', 'accounts/{id}/keys/{key_id}', { ids: keyIds, body: { status: 'disabled' } })
  await go('POST', 'accounts/{id}/keys/{key_id}/rotate', { ids: keyIds, body: { overlap_seconds: 60 } })
  await go('DELETE', 'accounts/{id}/keys/{key_id}', { ids: [...ids, String(customer.keyId)] })
  await go('DELETE', 'plans/{id}', { ids: ['MAX'] })
}
