/** Alerts as they leave: mail over a real mail server, and the check of docs/operating/alerts.md as it stands there. */
import { HOUR_MS } from '../../src/core/durations.ts'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Customer, openCustomer } from '../gateway/customer.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { type Mailbox, openMailbox } from '../notify/mailbox.ts'
import { Secret } from '../../src/core/secret.ts'
import { deliverAlerts, raiseAlerts } from '../../src/management/accounts/alerts.ts'
import { openMessenger } from '../../src/notify/open-messenger.ts'
import { alertPost } from '../../src/app/rounds/customer-rounds.ts'
import { AllowList } from '../../src/upstream/connect/guard.ts'
import { openUpstream } from '../../src/upstream/send.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const GUIDE = fileURLToPath(new URL('../../../docs/operating/alerts.md', import.meta.url))

type Check = (body: Uint8Array, header: string | undefined, secret: string, now?: number) => boolean

let mailbox: Mailbox
let customer: Customer
let folder: string
const upstream = openUpstream()

const { gateway, receiver } = await withGateway({
  upstreams: ['receiver'],
  environment: { SLUICE_FETCH_ALLOW: '127.0.0.0/8' },
})

beforeAll(async () => {
  receiver.answer(answerJson({}))
  mailbox = await openMailbox()
  customer = await openCustomer(gateway, { credits: 10 })
  folder = await mkdtemp(join(tmpdir(), 'sluice-guide-'))
})
afterAll(async () => {
  await mailbox.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

async function postOver(url: string) {
  const { secretKey } = gateway.running.pipeline.videoSettings
  const messenger = await openMessenger({
    smtpUrl: new Secret(url),
    mailFrom: 'Sluice <alerts@sluice.example>',
    smsUrl: undefined,
    upstream,
    log: gateway.running.pipeline.telemetry.log,
    now: () => Date.now(),
  })
  return {
    messenger,
    out: alertPost({
      messenger,
      secretKey,
      allow: new AllowList(['127.0.0.0/8']),
      telemetry: gateway.running.pipeline.telemetry,
    }),
  }
}

/** The one block of code of the guide. */
async function checkOfGuide(): Promise<Check> {
  const [, code] = /```js\n([\s\S]*?)```/.exec(readFileSync(GUIDE, 'utf8')) ?? []
  if (code === undefined) throw new Error('the guide has no code')
  const file = join(folder, 'check.mjs')
  await writeFile(file, code)
  const { isFromSluice } = (await import(pathToFileURL(file).href)) as { readonly isFromSluice: Check }
  return isFromSluice
}

test('an alert comes by mail, a mail server that is away loses none, and the webhook passes the guide’s check', async () => {
  const { email } = await gateway.account(customer.id)
  const webhook = { webhook_url: `${receiver.url}/hook` }
  await customer.ask('PATCH', 'account', { alerts: { email: true, low_credits: 20, ...webhook } })
  const at = Date.now()
  expect(await raiseAlerts(gateway.storage, at)).toBe(1)

  const away = await postOver(mailbox.url.replace(/:\d+$/, ':1'))
  expect(await deliverAlerts(gateway.storage, away.out, at)).toEqual({ sent: 1, failed: 1 })
  await away.messenger.close()
  const { out, messenger } = await postOver(mailbox.url)
  expect(await deliverAlerts(gateway.storage, out, at + HOUR_MS)).toEqual({ sent: 1, failed: 0 })
  const mail = await mailbox.next(email ?? '')
  expect(mail.from).toMatchObject({ address: 'alerts@sluice.example' })
  expect(mail.subject).toBe('Your Credits are running low')
  expect(mail.text).toContain('10 Credits left, less than the 20')
  await messenger.close()

  const [request, ...others] = receiver.requests
  expect(others).toEqual([])
  if (request === undefined) throw new Error('no webhook came')
  const alerts: { readonly webhook_secret: string } = await customer.ask('GET', 'alerts')
  const secret = alerts.webhook_secret
  const header = String(request.headers['sluice-signature'])
  const isFromSluice = await checkOfGuide()
  const { body } = request
  expect(isFromSluice(body, header, secret, at)).toBe(true)
  expect(isFromSluice(body, header, secret, at + 301_000)).toBe(false)
  expect(isFromSluice(Buffer.concat([body, Buffer.from(' ')]), header, secret, at)).toBe(false)
  expect(isFromSluice(body, header, `${secret}x`, at)).toBe(false)
  expect(isFromSluice(body, undefined, secret, at)).toBe(false)
})
