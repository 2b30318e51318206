/** Alerts: raised once, told by mail and signed webhook, tried again, given up. */
import { HOUR_MS } from '../../src/core/durations.ts'
import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { postJson } from '../gateway/client.ts'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { openTeam } from '../gateway/team.ts'
import { answerJson, staySilent } from '../gateway/scripted-upstream.ts'
import { type AlertPost, deliverAlerts, raiseAlerts } from '../../src/management/accounts/alerts.ts'
import { microCredits } from '../../src/core/money.ts'
import { alertPost } from '../../src/app/rounds/customer-rounds.ts'
import { AllowList } from '../../src/upstream/connect/guard.ts'
import { postRemote } from '../../src/upstream/remote/post-remote.ts'
import { withGateway } from '../gateway/with-gateway.ts'

interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}
interface ShownAlerts {
  readonly webhook_secret: string | null
  readonly alerts: readonly {
    readonly type: string
    readonly cleared_at: string | null
    readonly data: object
    readonly deliveries: readonly {
      readonly channel: string
      readonly attempts: number
      readonly outcome: string
    }[]
  }[]
}

const LOOPBACK = new AllowList(['127.0.0.0/8'])

let customer: Customer
let mails: Mail[]
let out: AlertPost
/** Well after everything that happened: what is due is due. */
let at: number

const { gateway, receiver } = await withGateway({
  upstreams: ['receiver'],
  environment: { SLUICE_FETCH_ALLOW: '127.0.0.0/8' },
})
beforeEach(async () => {
  receiver.requests.length = 0
  receiver.answer(answerJson({}))
  mails = []
  at = Date.now()
  customer = await openCustomer(gateway, { credits: 10 })
  const messenger = {
    send: (message: { readonly to: string }) => {
      mails.push(message as Mail)
      return Promise.resolve()
    },
    leaves: () => true,
    close: () => Promise.resolve(),
  }
  const { videoSettings, telemetry } = gateway.running.pipeline
  out = alertPost({ messenger, secretKey: videoSettings.secretKey, allow: LOOPBACK, telemetry })
})

const watch = (alerts: object) => customer.ask('PATCH', 'account', { alerts })
const shown = (): Promise<ShownAlerts> => customer.ask('GET', 'alerts')
const deliver = (later = 0) => deliverAlerts(gateway.storage, out, at + later)

async function grant(amount: number): Promise<void> {
  await gateway.storage.ledger.book([
    {
      transactionId: `grant-${customer.id}-${amount}`,
      sequence: 0,
      at,
      debit: 'platform/grants',
      credit: `${customer.id}/credits`,
      amount: microCredits(BigInt(amount) * 1_000_000n),
      kind: 'grant',
      reference: undefined,
    },
  ])
}

describe('a test', () => {
  test('arrives over every way that is set, and is no alert that stands', async () => {
    const { email } = await gateway.account(customer.id)
    await watch({ email: true, webhook_url: `${receiver.url}/hook` })
    expect(await customer.ask('POST', 'alerts/test')).toEqual({ deliveries: 2 })
    expect(await customer.ask('POST', 'alerts/test')).toEqual({ deliveries: 2 })
    expect(await deliver(HOUR_MS)).toEqual({ sent: 4, failed: 0 })
    expect(mails[0]).toMatchObject({ to: email, subject: 'A test of your alerts' })
    expect(receiver.requests[0]?.json()).toMatchObject({ type: 'test', account_id: customer.id, data: {} })
    const { alerts } = await shown()
    expect(alerts[0]).toMatchObject({
      type: 'test',
      cleared_at: expect.any(String) as string,
      deliveries: [{ outcome: 'sent' }, { outcome: 'sent' }],
    })
  })

  test('is refused where there is nowhere to send it', async () => {
    await watch({ low_credits: 20 })
    const { status, body } = await customer.send('POST', 'alerts/test')
    expect([status, body.code]).toEqual([409, 40900])
    expect((await shown()).alerts).toEqual([])
  })
})

describe('low Credits', () => {
  test('are told once by mail and signed webhook, and again only after they were higher', async () => {
    const { email } = await gateway.account(customer.id)
    await watch({ email: true, low_credits: 20, webhook_url: `${receiver.url}/hook` })
    expect(await raiseAlerts(gateway.storage, at)).toBe(1)
    expect(await raiseAlerts(gateway.storage, at)).toBe(0)
    expect(await deliver()).toEqual({ sent: 2, failed: 0 })
    expect(await deliver(HOUR_MS)).toEqual({ sent: 0, failed: 0 })
    expect(mails).toMatchObject([{ to: email, subject: 'Your Credits are running low' }])
    expect(mails[0]?.text).toContain('10 Credits left, less than the 20')
    const [request, ...others] = receiver.requests
    expect(others).toEqual([])
    expect(request?.json()).toMatchObject({
      type: 'low-credits',
      account_id: customer.id,
      data: { credits: '10', below: '20' },
    })
    const { webhook_secret: secret, alerts } = await shown()
    const [, seconds, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
      String(request?.headers['sluice-signature']),
    ) ?? ['', '', '']
    expect(digest).toBe(
      createHmac('sha256', secret ?? '')
        .update(`${seconds}.${request?.body.toString('utf8') ?? ''}`)
        .digest('hex'),
    )
    expect(alerts).toMatchObject([{ type: 'low-credits', cleared_at: null }])
    await grant(50)
    expect(await raiseAlerts(gateway.storage, at + 1)).toBe(0)
    expect((await shown()).alerts[0]?.cleared_at).not.toBeNull()
    await watch({ low_credits: 100 })
    expect(await raiseAlerts(gateway.storage, at + 2)).toBe(1)
  })

  test('no alert is sent to an account that did not request it, or switched it off', async () => {
    await watch({ email: true })
    expect(await raiseAlerts(gateway.storage, at)).toBe(0)
    await watch({ low_credits: 20 })
    await watch({ email: false })
    expect(await raiseAlerts(gateway.storage, at)).toBe(0)
    expect(await shown()).toEqual({ webhook_secret: null, alerts: [] })
  })
})

describe('failures', () => {
  test('are told when as many calls failed within an hour, and not of calls longer ago', async () => {
    await watch({ email: true, failures_per_hour: 3 })
    for (let index = 0; index < 3; index += 1) {
      if (index === 2) expect(await raiseAlerts(gateway.storage, Date.now())).toBe(0)
      const call = { model: 'missing', messages: [] }
      await postJson(`${gateway.baseUrl}/v1/chat/completions`, call, {
        authorization: `Bearer ${customer.key}`,
      })
      await gateway.settled()
    }
    expect(await raiseAlerts(gateway.storage, Date.now() + HOUR_MS + 1_000)).toBe(0)
    expect(await raiseAlerts(gateway.storage, Date.now())).toBe(1)
    await deliver(60_000)
    expect(mails.at(-1)).toMatchObject({ subject: 'Many of your calls are failing' })
  })
})

describe('an organisation', () => {
  test('has no address of its own: its owners are told, by its name', async () => {
    const team = await openTeam(gateway, { credits: 10 })
    const second = await team.join('owner')
    const away = await team.join('owner', { status: 'suspended' })
    const changed = await team.admin.act('PATCH', 'account', { alerts: { email: true, low_credits: 20 } })
    expect(changed.status).toBe(200)
    expect(await raiseAlerts(gateway.storage, at)).toBe(1)
    expect(await deliver()).toEqual({ sent: 2, failed: 0 })
    expect(mails.map(({ to }) => to).toSorted()).toEqual([team.owner.email, second.email].toSorted())
    expect(mails.map(({ to }) => to)).not.toContain(away.email)
    expect(mails[0]).toMatchObject({ subject: 'The Credits of Acme are running low' })
    expect(mails[0]?.text).toContain('The organisation “Acme” has 10 Credits left')
    expect(await team.admin.act('GET', 'alerts')).toMatchObject({
      body: { data: { alerts: [{ type: 'low-credits', data: { organisation: 'Acme' } }] } },
    })
  })
})

describe('a webhook', () => {
  test('that is not taken is tried again with growing waits, and given up after the sixth', async () => {
    receiver.answer(answerJson({}, 500))
    await watch({ low_credits: 20, webhook_url: `${receiver.url}/hook` })
    await raiseAlerts(gateway.storage, at)
    let later = 0
    for (const waitMs of [60_000, 300_000, 1_800_000, 7_200_000, 28_800_000]) {
      expect(await deliver(later)).toEqual({ sent: 0, failed: 1 })
      expect(await deliver(later + waitMs - 1)).toEqual({ sent: 0, failed: 0 })
      later += waitMs
    }
    expect(await deliver(later)).toEqual({ sent: 0, failed: 1 })
    expect(await deliver(later * 10)).toEqual({ sent: 0, failed: 0 })
    expect((await shown()).alerts[0]?.deliveries).toEqual([
      { channel: 'webhook', attempts: 6, outcome: 'failed' },
    ])
    expect(receiver.requests).toHaveLength(6)
  })

  test('two instances at once send it once', async () => {
    await watch({ low_credits: 20, webhook_url: `${receiver.url}/hook` })
    await Promise.all([raiseAlerts(gateway.storage, at), raiseAlerts(gateway.storage, at)])
    await Promise.all([deliver(), deliver(), deliver()])
    expect(receiver.requests).toHaveLength(1)
  })

  test('never reaches the operator’s network, and follows nobody there', async () => {
    const closed = { timeoutMs: 1_000, allow: new AllowList([]) }
    const request = { url: `${receiver.url}/hook`, body: '{}', headers: {} }
    expect(await postRemote(request, closed)).toMatchObject({ kind: 'refused', reason: 'forbidden' })
    for (const url of [
      'http://169.254.169.254/',
      'http://[::1]/',
      'http://0x7f000001/',
      'ftp://example.com/',
      'x',
    ]) {
      expect((await postRemote({ ...request, url }, closed)).kind).toBe('refused')
    }
    expect(receiver.requests).toEqual([])
    receiver.answer((_request, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' })
      response.end()
    })
    const open = { timeoutMs: 1_000, allow: LOOPBACK }
    expect(await postRemote(request, open)).toEqual({ kind: 'answered', status: 302 })
    receiver.answer(staySilent)
    expect(await postRemote(request, { ...open, timeoutMs: 50 })).toMatchObject({ kind: 'refused' })
  })
})
