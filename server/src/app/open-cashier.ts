import type { Config } from '../config/environment.ts'
import type { Pipeline } from '../pipeline/context.ts'
import { receiptsOf } from '../management/money/receipts.ts'
import type { Cashier } from '../management/top-up/cashier.ts'
import type { Messenger } from '../notify/messenger.ts'
import { openPayments } from '../payments/open-payments.ts'
import { createFindProxy } from '../upstream/connect/find-proxy.ts'
import { AllowList } from '../upstream/connect/guard.ts'

/** Opens card payments with the configured provider. */
export async function openCashier(
  config: Config,
  parts: Pick<Pipeline, 'storage' | 'telemetry' | 'now'>,
  messenger: Pick<Messenger, 'leaves'>,
): Promise<Cashier> {
  const { storage, telemetry, now } = parts
  const { stripeKey: key, stripeWebhookSecret: webhookSecret, stripeUrl: url } = config
  const stripe = key === undefined || webhookSecret === undefined ? undefined : { key, webhookSecret, url }
  const driver = await openPayments({
    stripe,
    allow: new AllowList(config.fetchAllow, createFindProxy(config)),
  })
  return {
    storage,
    driver,
    receipts: receiptsOf(messenger),
    log: telemetry.log,
    security: telemetry.security,
    now,
  }
}
