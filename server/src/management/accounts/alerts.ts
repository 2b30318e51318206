/**
 * Alerts about low Credits and many failures, sent once each time the condition begins: by mail and by a signed
 * webhook. Raising and sending are separate, so that nothing is lost while a mail server is unavailable.
 */
import { HOUR_MS } from '../../core/durations.ts'
import { createHmac } from 'node:crypto'
import type { AccountId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { microCredits } from '../../core/money.ts'
import { Secret } from '../../core/secret.ts'
import type {
  AlertFacts,
  AlertKind,
  Delivery,
  ShownAlert,
  WatchedAccount,
} from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { creditsText } from '../money/amounts.ts'
import { receiptText } from '../identity/messages/message-texts.ts'
import { timeOrderedId } from '../new-id.ts'
import { mailsOf } from '../organisations/organisations.ts'

const PAGE_ACCOUNTS = 200

/** Organisations have no address of their own: their owners are notified. */
type Told = Pick<Storage, 'customers' | 'organisations'>

/** Checks every account that has alerts enabled. Returns how many alerts were raised. */
export async function raiseAlerts(storage: Told, at: number): Promise<number> {
  let raised = 0
  let after: string | undefined
  for (;;) {
    const page = await storage.customers.alerts.watched({ limit: PAGE_ACCOUNTS, after })
    for (const watched of page) raised += await judge(storage, watched, at)
    after = page.at(-1)?.account.id
    if (after === undefined || page.length < PAGE_ACCOUNTS) return raised
  }
}

/** Kinds that are checked periodically; the others are raised by an action. */
type WatchedKind = Exclude<AlertKind, 'receipt' | 'test'>

async function judge(storage: Told, watched: WatchedAccount, at: number): Promise<number> {
  const found: Readonly<Record<WatchedKind, AlertFacts | undefined>> = {
    'low-credits': lowCredits(watched),
    failures: await failures(storage, watched, at),
  }
  let raised = 0
  for (const kind of ['low-credits', 'failures'] as const) {
    const facts = found[kind]
    const stands = watched.standing.includes(kind)
    if (facts !== undefined && !stands) raised += (await raise(storage, watched, { kind, facts, at })) ? 1 : 0
    if (facts === undefined && stands) await storage.customers.alerts.clear(watched.account.id, kind, at)
  }
  return raised
}

function lowCredits({ account, alerts }: WatchedAccount): AlertFacts | undefined {
  const left = account.credits - account.held
  if (alerts.lowCredits === undefined || left >= alerts.lowCredits) return undefined
  return { credits: creditsText(microCredits(left)), below: creditsText(alerts.lowCredits) }
}

async function failures(
  storage: Pick<Storage, 'customers'>,
  { account, alerts }: WatchedAccount,
  at: number,
): Promise<AlertFacts | undefined> {
  const most = alerts.failuresPerHour
  if (most === undefined) return undefined
  const failed = await storage.customers.alerts.countFailures(account.id, at - HOUR_MS, most)
  return failed >= most ? { failed_calls: failed, within_seconds: HOUR_MS / 1_000 } : undefined
}

/**
 * Sends a test alert through every channel; the list of alerts shows whether it arrived. Returns how many deliveries
 * were started.
 */
export async function raiseTest(
  storage: Told,
  told: Pick<WatchedAccount, 'account' | 'alerts'>,
  at: number,
): Promise<number> {
  const ways = await waysOf(storage, told)
  if (ways.length === 0) return 0
  await raise(storage, told, { kind: 'test', facts: {}, at })
  await storage.customers.alerts.clear(told.account.id, 'test', at)
  return ways.length
}

async function raise(
  storage: Told,
  { account, alerts }: Pick<WatchedAccount, 'account' | 'alerts'>,
  { kind, facts, at }: { readonly kind: AlertKind; readonly facts: AlertFacts; readonly at: number },
): Promise<boolean> {
  const organisation =
    account.kind === 'organisation' ? await storage.organisations.find(account.id) : undefined
  const alert = {
    id: `alert_${timeOrderedId(at)}`,
    accountId: account.id,
    kind,
    raisedAt: at,
    facts: { ...facts, ...(organisation === undefined ? {} : { organisation: organisation.name }) },
  }
  const targets = await waysOf(storage, { account, alerts })
  const deliveries = targets.map((target) => ({ id: `delivery_${timeOrderedId(at)}`, ...target }))
  return storage.customers.alerts.raise(alert, deliveries)
}

/** An account's channels: its mail address, an organisation's owners' addresses, its webhook. */
async function waysOf(
  storage: Told,
  { account, alerts }: Pick<WatchedAccount, 'account' | 'alerts'>,
): Promise<readonly Pick<Delivery, 'channel' | 'target'>[]> {
  const mails = alerts.email ? await mailsOf(storage, account) : []
  return [
    ...mails.map((target) => ({ channel: 'email' as const, target })),
    ...(alerts.webhookUrl === undefined ? [] : [{ channel: 'webhook' as const, target: alerts.webhookUrl }]),
  ]
}

/** Sends notices. Both reject or return false if the receiver did not accept it. */
export interface AlertPost {
  readonly mail: (mail: {
    readonly to: string
    readonly subject: string
    readonly text: string
  }) => Promise<void>
  /** A POST to an address the customer chose, never into the operator's network. */
  readonly post: (url: string, body: string, headers: Readonly<Record<string, string>>) => Promise<boolean>
  readonly webhookSecret: (account: AccountId, url: string) => Secret
}

/** Waits between attempts; after the last one the notice is given up. */
const RETRY_MS = [60_000, 300_000, 1_800_000, 7_200_000, 28_800_000]
const ROUND_DELIVERIES = 50
/** Longer than one round may take to send everything it leased. */
const LEASE_MS = 600_000

export async function deliverAlerts(
  storage: Pick<Storage, 'customers'>,
  out: AlertPost,
  at: number,
): Promise<{ readonly sent: number; readonly failed: number }> {
  let sent = 0
  let failed = 0
  const due = await storage.customers.alerts.take(at, { limit: ROUND_DELIVERIES, leaseMs: LEASE_MS })
  for (const delivery of due) {
    if (await isTaken(out, delivery, at)) {
      sent += 1
      await storage.customers.alerts.finish(delivery.id, { outcome: 'sent' })
      continue
    }
    failed += 1
    const waitMs = RETRY_MS[delivery.attempts - 1]
    await storage.customers.alerts.finish(
      delivery.id,
      waitMs === undefined ? { outcome: 'failed' } : { outcome: 'waiting', dueAt: at + waitMs },
    )
  }
  return { sent, failed }
}

async function isTaken(out: AlertPost, delivery: Delivery, at: number): Promise<boolean> {
  const { alert, target } = delivery
  if (delivery.channel === 'email') {
    return out.mail({ to: target, ...letterOf(delivery) }).then(
      () => true,
      // The next attempt gets the mail server's error again, and the round's count is logged.
      () => false,
    )
  }
  const body = JSON.stringify(webhookBody(delivery))
  const secret = out.webhookSecret(alert.accountId, target)
  return out.post(target, body, {
    'content-type': 'application/json',
    'sluice-delivery': delivery.id,
    'sluice-signature': signature(secret, body, at),
  })
}

/** `t=<Unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`: a receiver checks both, and refuses old timestamps. */
export function signature(secret: Secret, body: string, at: number): string {
  const seconds = Math.floor(at / 1_000)
  const digest = createHmac('sha256', secret.unwrap()).update(`${seconds}.${body}`, 'utf8').digest('hex')
  return `t=${seconds},v1=${digest}`
}

/** Derived from the platform's key, the account and the address: another address has another secret. */
export function webhookSecretOf(
  secretKey: Uint8Array,
  { account, url }: { readonly account: AccountId; readonly url: string },
): Secret {
  const digest = createHmac('sha256', secretKey).update(`alert-webhook\n${account}\n${url}`, 'utf8')
  return new Secret(`whsec_${digest.digest('base64url')}`)
}

function webhookBody({ id, alert }: Delivery): JsonObject {
  return {
    id,
    type: alert.kind,
    account_id: alert.accountId,
    raised_at: new Date(alert.raisedAt).toISOString(),
    data: alert.facts,
  }
}

function letterOf({ alert }: Delivery): { readonly subject: string; readonly text: string } {
  const { facts } = alert
  const organisation = facts['organisation']
  const whose = organisation === undefined ? 'your account' : `the organisation “${organisation}”`
  switch (alert.kind) {
    case 'low-credits':
      return {
        subject:
          organisation === undefined
            ? 'Your Credits are running low'
            : `The Credits of ${organisation} are running low`,
        text: `${capital(whose)} has ${facts['credits'] ?? ''} Credits left, less than the ${facts['below'] ?? ''} at which you wanted to be told.\n`,
      }
    case 'failures':
      return {
        subject:
          organisation === undefined
            ? 'Many of your calls are failing'
            : `Many calls of ${organisation} are failing`,
        text: `At least ${facts['failed_calls'] ?? ''} calls of ${whose} failed within an hour. The call log says why.\n`,
      }
    case 'receipt':
      return receiptText(facts)
    case 'test':
      return {
        subject: 'A test of your alerts',
        text: `Alerts of ${whose} arrive here. Nothing else has happened.\n`,
      }
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export interface AlertView {
  readonly id: string
  readonly type: AlertKind
  readonly raised_at: string
  /** null: the condition persists. */
  readonly cleared_at: string | null
  readonly data: AlertFacts
  readonly deliveries: ShownAlert['deliveries']
}

export function viewAlert(alert: ShownAlert): AlertView {
  return {
    id: alert.id,
    type: alert.kind,
    raised_at: new Date(alert.raisedAt).toISOString(),
    cleared_at: alert.clearedAt === undefined ? null : new Date(alert.clearedAt).toISOString(),
    data: alert.facts,
    deliveries: alert.deliveries,
  }
}
