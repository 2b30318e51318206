/**
 * A customer's life through the API alone, on a fresh process: register by e-mail, be verified, get money, make a key,
 * call a model, read the log and recompute its charge, subscribe, be refused by a limit, revoke the key, see the next
 * call fail.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, readAnswer } from '../gateway/client.ts'
import { type Desk, dataOf, post, registerByMail } from '../identity/person.ts'
import { type Mailbox, openMailbox } from '../notify/mailbox.ts'
import { type Launched, launch } from '../processes/launch.ts'

const ADMIN = { email: 'owner@example.com', password: 'a long admin password' }

let mailbox: Mailbox
let directory: string
let running: Launched
let desk: Desk

beforeAll(async () => {
  mailbox = await openMailbox()
  directory = mkdtempSync(join(tmpdir(), 'sluice-journey-'))
  const file = join(directory, 'gateway.json')
  writeFileSync(file, JSON.stringify(gatewayFile()))
  running = await launch({
    SLUICE_DATA_DIR: join(directory, 'data'),
    SLUICE_CONFIG: file,
    SLUICE_SMTP_URL: mailbox.url,
    SLUICE_MAIL_FROM: 'sluice@example.com',
  })
  desk = { baseUrl: running.baseUrl, mailbox }
})

afterAll(async () => {
  await running.stop()
  await mailbox.close()
  rmSync(directory, { recursive: true })
})

test('from registration to a revoked key, through the API alone', async () => {
  // Register by e-mail; that signs in.
  const customer = as((await registerByMail(desk, 'ann@example.com')).token)
  const admin = as(dataOf(await post(desk, '/sign-in', ADMIN)).token)
  const account = await customer<{ id: string; verification: string; credits: string }>(
    'GET',
    'user/user/account',
  )
  expect(account).toMatchObject({ email: 'ann@example.com', verification: 'none', credits: '0' })

  // Be verified: asked for with a document, decided by an admin.
  const form = new FormData()
  form.set('kind', 'personal')
  form.set('legal_name', 'Ann Example')
  form.set('id_number', '110101199003070000')
  form.set('documents', new Blob([PNG], { type: 'image/png' }), 'front.png')
  const asked = await customer<{ id: string }>('POST', 'user/user/verification', form)
  await admin('POST', `admin/verifications/${asked.id}/decide`, { verdict: 'approved' })
  expect(await customer('GET', 'user/user/account')).toMatchObject({ verification: 'personal' })

  // Top up: a code puts yuan on the balance, some of it is exchanged for Credits.
  const batch = await admin<{ codes: readonly string[] }>('POST', 'admin/code-batches', {
    yuan: '150',
    count: 1,
    note: 'sold at the counter',
  })
  await customer('POST', 'user/user/redeem', { code: batch.codes[0] })
  await customer('PATCH', 'user/user/account', { api_deduction: true })
  await customer('POST', 'user/user/exchange', { yuan: '20' })
  expect(await customer('GET', 'user/user/account')).toMatchObject({ credits: '20000', balance: '130' })

  // Make a key and call a model with the official SDK.
  const made = await customer<{ id: string; key: string }>('POST', 'user/user/keys', {
    name: 'laptop',
    policy: { windows: [{ dimension: 'requests', limit: 2, seconds: 3_600 }] },
  })
  const openai = new OpenAI({ baseURL: `${running.baseUrl}/v1`, apiKey: made.key, maxRetries: 0 })
  const ask = () =>
    openai.chat.completions.create({
      model: 'sandbox-chat',
      messages: [{ role: 'user', content: 'Hello' }],
      user: 'ann-1',
    })
  expect((await ask()).choices[0]?.message.content).toBeTruthy()

  // Read the log and recompute the charge from its recipe.
  const [row] = await customer<readonly LogRow[]>('GET', 'user/user/logs?user=ann-1')
  if (row?.recipe === undefined) throw new Error('the call is not in the log')
  expect(row.usage_source).toBe('upstream')
  expect(Number(row.amount)).toBeCloseTo(recomputed(row.recipe), 6)
  const paid = await customer<{ credits: string }>('GET', 'user/user/account')
  expect(Number(paid.credits)).toBeCloseTo(20_000 - Number(row.deducted), 6)

  // Subscribe; the next call is covered and costs no Credits.
  await customer('POST', 'user/user/subscription', { plan: 'PLUS' })
  await ask()
  const [covered] = await customer<readonly LogRow[]>('GET', 'user/user/logs?user=ann-1')
  expect(covered?.subscription_covered).toBe(true)
  expect(await customer('GET', 'user/user/account')).toMatchObject({ credits: paid.credits, plan: 'PLUS' })

  // Be refused by the key's limit.
  await expect(ask()).rejects.toMatchObject({ status: 429, code: '42902' })

  // Revoke the key: the very next call fails.
  await customer('DELETE', `user/user/keys/${made.id}`)
  await expect(ask()).rejects.toMatchObject({ status: 401, code: '40101' })

  // What the operator sees: nothing is amiss, and every act of theirs is on record.
  expect(await admin('POST', 'admin/verify')).toMatchObject({ differences: [] })
  const acts = await admin<readonly { action: string }[]>('GET', 'admin/audit')
  expect(acts.map(({ action }) => action).join(' ')).toMatch(/verification\.decide/)
})

interface LogRow {
  readonly amount: string | number
  readonly deducted: string | number
  readonly usage_source: string
  readonly subscription_covered: boolean
  readonly recipe?: Recipe
}

interface Recipe {
  readonly lines: readonly { readonly quantity: number; readonly price: string; readonly per: number }[]
  readonly creditsPerUnit?: string
  readonly credits_per_unit?: string
  readonly rateMultiplier?: string
  readonly rate_multiplier?: string
  readonly userRate?: string
  readonly user_rate?: string
}

/** Each class × price × multipliers. */
function recomputed(recipe: Recipe): number {
  const yuan = recipe.lines.reduce((sum, line) => sum + (line.quantity * Number(line.price)) / line.per, 0)
  const perYuan = Number(recipe.credits_per_unit ?? recipe.creditsPerUnit)
  const multiplier = Number(recipe.rate_multiplier ?? recipe.rateMultiplier)
  return (yuan * perYuan * multiplier * Number(recipe.user_rate ?? recipe.userRate)) / 100
}

/** Someone signed in; `path` behind `/api/v1/`. Gives `data` of a good answer; anything else fails the test. */
function as(token: string) {
  return async <Data>(method: string, path: string, body?: object): Promise<Data> => {
    const form = body instanceof FormData
    const answer: Answer = await readAnswer(
      await fetch(`${running.baseUrl}/api/v1/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined || form ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
      }),
    )
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body.data as Data
  }
}

/** One grey pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
)

function gatewayFile() {
  return {
    vendors: [
      { code: 'sandbox', name: 'Sandbox', kind: 'sandbox', credentials: [{ name: 'main', secret: 'none' }] },
    ],
    models: [
      {
        model_id: 'sandbox-chat',
        name: 'Sandbox',
        support_features: ['text'],
        max_output_tokens: 1_000,
        subscription_covered: true,
        required_verification: 1,
        pricing: { billing_modes: ['token'], input_price: 100, output_price: 500 },
        chains: [
          { vendor: 'sandbox', credential: 'main', protocol: 'chat', forward_model_id: 'sandbox-chat' },
        ],
      },
    ],
    plans: [
      { code: 'PLUS', level: 1, price: 99, period_days: 30, quota: [{ credits: 5_000, seconds: 18_000 }] },
    ],
    accounts: [{ ...ADMIN, role: 'admin' }],
  }
}
