/** Periodic work of the management API. Every instance does it, but each act happens once. */
import type { Catalogue } from '../../core/catalogue.ts'
import { every } from './housekeeping.ts'
import { noteForbidden } from '../note-security.ts'
import {
  type AlertPost,
  deliverAlerts,
  raiseAlerts,
  webhookSecretOf,
} from '../../management/accounts/alerts.ts'
import { receiptsOf } from '../../management/money/receipts.ts'
import { renewDue } from '../../management/money/subscriptions.ts'
import type { Messenger } from '../../notify/messenger.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { AllowList } from '../../upstream/connect/guard.ts'
import { postRemote } from '../../upstream/remote/post-remote.ts'

/** A third of the lead time of renewals, so that a late round leaves no gap. */
const RENEWAL_EVERY_MS = 20_000
const ALERTS_EVERY_MS = 60_000
const DELIVERIES_EVERY_MS = 10_000
/** After this time a webhook is retried later. */
const WEBHOOK_TIMEOUT_MS = 10_000

export interface CustomerRounds {
  stop(): void
}

export interface CustomerRoundParts {
  readonly storage: Pick<Storage, 'customers' | 'organisations' | 'audit'>
  readonly catalogue: () => Catalogue
  readonly messenger: Messenger
  readonly secretKey: Uint8Array
  /** Private addresses that webhooks may reach. */
  readonly allow: AllowList
  readonly telemetry: Telemetry
  readonly now: () => number
}

export function keepCustomerRounds(parts: CustomerRoundParts): CustomerRounds {
  const { storage, telemetry, now } = parts
  const out = alertPost(parts)
  const renew = async (): Promise<void> => {
    const round = await renewDue(storage, parts.catalogue(), now(), receiptsOf(parts.messenger))
    if (round.renewed + round.failed > 0) telemetry.log.info({ ...round }, 'subscriptions were due')
  }
  const raise = async (): Promise<void> => {
    await raiseAlerts(storage, now())
  }
  const deliver = async (): Promise<void> => {
    const round = await deliverAlerts(storage, out, now())
    if (round.failed > 0) telemetry.log.warn({ ...round }, 'some alerts could not be delivered')
  }
  const timers = [
    every(RENEWAL_EVERY_MS, telemetry, { work: renew, name: 'renewal of subscriptions' }),
    every(ALERTS_EVERY_MS, telemetry, { work: raise, name: 'raising of alerts' }),
    every(DELIVERIES_EVERY_MS, telemetry, { work: deliver, name: 'delivery of alerts' }),
  ]
  return {
    stop() {
      for (const timer of timers) clearInterval(timer)
    },
  }
}

export function alertPost({
  messenger,
  secretKey,
  allow,
  telemetry,
}: Pick<CustomerRoundParts, 'messenger' | 'secretKey' | 'allow' | 'telemetry'>): AlertPost {
  return {
    mail: (mail) => messenger.send({ channel: 'email', ...mail }),
    async post(url, body, headers) {
      const answer = noteForbidden(
        telemetry,
        'an alert',
        await postRemote({ url, body, headers }, { timeoutMs: WEBHOOK_TIMEOUT_MS, allow }),
      )
      return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300
    },
    webhookSecret: (account, url) => webhookSecretOf(secretKey, { account, url }),
  }
}
