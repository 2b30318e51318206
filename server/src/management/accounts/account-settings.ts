/** What an account may change of its own settings, and its own full view. */
import { say } from '../../core/sentences/say.ts'
import type { Catalogue, DecimalText } from '../../core/catalogue.ts'
import type { AccountId, ModelId } from '../../core/ids.ts'
import type { AlertSettings, Profile } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { type AccountView, type AccountViewOptions, viewAccount } from './accounts.ts'
import { creditsOfText, creditsOfYuan, creditsText, yuanText } from '../money/amounts.ts'
import type { FieldMistake } from '../keys/keys.ts'
import type { Account, AccountPatch } from '../../storage/stores/accounts.ts'

/** Absent: unchanged; so is undefined unless a field gives it a meaning. */
export interface SettingsChange {
  /** undefined: removes it. */
  readonly fallbackModel?: ModelId | undefined
  readonly apiDeduction: boolean | undefined
  readonly monthlyCapYuan: DecimalText | undefined
  readonly autoExchange:
    | {
        readonly enabled: boolean | undefined
        readonly belowCredits: DecimalText | undefined
        readonly stepYuan: DecimalText | undefined
      }
    | undefined
  readonly name?: string | undefined
  readonly language?: string | undefined
  readonly timezone?: string | undefined
  readonly alerts:
    | {
        readonly email: boolean | undefined
        readonly lowCredits?: DecimalText | undefined
        readonly failuresPerHour?: number | undefined
        readonly webhookUrl?: string | undefined
        readonly receipts: boolean | undefined
      }
    | undefined
}

/** Changes everything, or nothing if a field is invalid. */
export async function changeSettings(
  storage: Pick<Storage, 'accounts' | 'customers'>,
  id: AccountId,
  { change, catalogue }: { readonly change: SettingsChange; readonly catalogue: Catalogue },
): Promise<readonly FieldMistake[]> {
  const account = await storage.accounts.find(id)
  if (account === undefined) return [{ path: '', message: say('account-gone') }]
  const autoExchange = changedExchange(account.autoExchange, change.autoExchange, catalogue)
  const mistakes: FieldMistake[] = []
  if (account.kind === 'organisation' && 'name' in change) {
    mistakes.push({ path: 'name', message: say('name-of-organisation') })
  }
  if (change.fallbackModel !== undefined && !catalogue.models.has(change.fallbackModel)) {
    mistakes.push({
      path: 'fallback_model',
      message: say('refers-to-unknown', { what: say('word-model'), name: change.fallbackModel }),
    })
  }
  if (autoExchange?.enabled === true && autoExchange.step <= 0n) {
    mistakes.push({ path: 'auto_exchange.step_yuan', message: say('above-0-for-exchange') })
  }
  if (mistakes.length > 0) return mistakes
  const patch: AccountPatch = {
    ...('fallbackModel' in change && { fallbackModel: change.fallbackModel }),
    ...(change.apiDeduction !== undefined && { apiDeduction: change.apiDeduction }),
    ...(change.monthlyCapYuan !== undefined && {
      monthlyCap: creditsOfYuan(change.monthlyCapYuan, catalogue.settings.creditsPerUnit),
    }),
    ...(autoExchange !== undefined && { autoExchange }),
  }
  if (Object.keys(patch).length > 0) await storage.accounts.patch(id, patch)
  const isProfile = 'name' in change || 'language' in change || 'timezone' in change
  if (isProfile || change.alerts !== undefined) {
    const profile = (await storage.customers.profiles.find(id)) ?? NO_PROFILE
    await storage.customers.profiles.put(id, changedProfile(profile, change))
  }
  return []
}

function changedExchange(
  before: Account['autoExchange'],
  change: SettingsChange['autoExchange'],
  { settings }: Pick<Catalogue, 'settings'>,
): Account['autoExchange'] | undefined {
  if (change === undefined) return undefined
  return {
    enabled: change.enabled ?? before.enabled,
    belowCredits:
      change.belowCredits === undefined ? before.belowCredits : creditsOfText(change.belowCredits),
    step:
      change.stepYuan === undefined ? before.step : creditsOfYuan(change.stepYuan, settings.creditsPerUnit),
  }
}

const NO_PROFILE: Profile = {
  name: undefined,
  language: undefined,
  timezone: undefined,
  alerts: {
    email: false,
    lowCredits: undefined,
    failuresPerHour: undefined,
    webhookUrl: undefined,
    receipts: true,
  },
}

function changedProfile(before: Profile, change: SettingsChange): Profile {
  return {
    name: 'name' in change ? change.name : before.name,
    language: 'language' in change ? change.language : before.language,
    timezone: 'timezone' in change ? change.timezone : before.timezone,
    alerts: changedAlerts(before.alerts, change.alerts),
  }
}

function changedAlerts(before: AlertSettings, change: SettingsChange['alerts']): AlertSettings {
  if (change === undefined) return before
  const low = change.lowCredits
  return {
    email: change.email ?? before.email,
    lowCredits:
      'lowCredits' in change ? (low === undefined ? undefined : creditsOfText(low)) : before.lowCredits,
    failuresPerHour: 'failuresPerHour' in change ? change.failuresPerHour : before.failuresPerHour,
    webhookUrl: 'webhookUrl' in change ? change.webhookUrl : before.webhookUrl,
    receipts: change.receipts ?? before.receipts,
  }
}

export interface OwnAccountView extends AccountView {
  readonly auto_exchange: {
    readonly enabled: boolean
    readonly below_credits: string
    readonly step_yuan: string
  }
  readonly name: string | null
  readonly language: string | null
  readonly time_zone: string | null
  readonly alerts: {
    readonly email: boolean
    readonly low_credits: string | null
    readonly failures_per_hour: number | null
    readonly webhook_url: string | null
    readonly receipts: boolean
  }
}

/** Read from the store again, since the caller was read earlier. */
export async function readOwnAccount(
  storage: Pick<Storage, 'accounts' | 'customers' | 'organisations'>,
  known: Account,
  options: AccountViewOptions,
): Promise<OwnAccountView> {
  const account = (await storage.accounts.find(known.id)) ?? known
  const profile = (await storage.customers.profiles.find(known.id)) ?? NO_PROFILE
  const { autoExchange } = account
  const { alerts } = profile
  const named = account.kind === 'organisation' ? await storage.organisations.find(account.id) : undefined
  return {
    ...viewAccount(account, options),
    auto_exchange: {
      enabled: autoExchange.enabled,
      below_credits: creditsText(autoExchange.belowCredits),
      step_yuan: yuanText(autoExchange.step, options.creditsPerUnit),
    },
    name: named?.name ?? profile.name ?? null,
    language: profile.language ?? null,
    time_zone: profile.timezone ?? null,
    alerts: {
      email: alerts.email,
      low_credits: alerts.lowCredits === undefined ? null : creditsText(alerts.lowCredits),
      failures_per_hour: alerts.failuresPerHour ?? null,
      webhook_url: alerts.webhookUrl ?? null,
      receipts: alerts.receipts,
    },
  }
}
