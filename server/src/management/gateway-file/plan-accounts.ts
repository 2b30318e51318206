/** Compares a gateway file's accounts and keys with the stored ones → the writes, and their description. */
import type {
  AccountFileRow,
  AutoExchangeRow,
  ByokRow,
  KeyRow,
  SubscriptionRow,
} from '../../config/gateway-file/gateway-file.ts'
import type { Subscription } from '../../core/ledger/hot-rows.ts'
import type { CredentialSecret, DecimalText, Plan, Settings } from '../../core/catalogue.ts'
import type { KeyId, VendorCode } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { ZERO } from '../../core/money.ts'
import type { Secret } from '../../core/secret.ts'
import {
  ACCOUNT_DEFAULTS,
  activeSubscription,
  startSubscription,
  verificationLevel,
} from '../accounts/accounts.ts'
import { creditsOfText, creditsOfYuan } from '../money/amounts.ts'
import type { OpeningAmounts } from '../money/grants.ts'
import { hashKeySecret, keyHint } from '../keys/keys.ts'
import { type AccountState, matchKey } from './account-state.ts'
import { compareForms, type Difference, fieldsOfNew, HIDDEN, isSame } from './difference.ts'
import { accountForm, keyForm, numberForm } from './forms.ts'
import { isSameSecret, orStored } from './plan-catalogue.ts'
import type { Account, AccountPatch } from '../../storage/stores/accounts.ts'
import type { Key, KeyStore } from '../../storage/stores/keys.ts'

export interface AccountPlan {
  /** The account's name for people. */
  readonly label: string
  readonly account: Account | undefined
  /** All fields for a new account, the changes for an existing one; undefined: none. */
  readonly fields: AccountPatch | undefined
  /** Hashed when it is written. */
  readonly password: Secret | undefined
  readonly opening: OpeningAmounts | undefined
  readonly byok: readonly ByokPut[]
  readonly keys: readonly KeyStep[]
  readonly differences: readonly Difference[]
}

export interface ByokPut {
  readonly vendor: VendorCode
  readonly secret: CredentialSecret
  readonly enabled: boolean
}

export type KeyPatch = Parameters<KeyStore['patch']>[1]

export type KeyStep =
  | { readonly kind: 'create'; readonly key: KeyFields; readonly secret: Secret | undefined }
  | { readonly kind: 'patch'; readonly id: KeyId; readonly patch: KeyPatch }

export type KeyFields = Pick<Key, 'name' | 'expiresAt' | 'group' | 'models' | 'ipAllow' | 'policy'> & {
  readonly status: 'enabled' | 'disabled'
}

export interface AccountQuestion {
  /** Settings and plans as they will be after applying. */
  readonly settings: Settings
  readonly plans: ReadonlyMap<string, Plan>
  readonly missing: 'stays' | 'prune'
  /** Epoch ms. */
  readonly at: number
}

type AccountFields = Omit<Account, 'id' | 'credits' | 'held' | 'balance' | 'createdAt' | 'byokVendors'>

export function planAccount(state: AccountState, question: AccountQuestion): AccountPlan {
  const { row, account } = state
  const label = row.email ?? row.phone ?? account?.id ?? ''
  const subscription = subscriptionAfter(row.subscription, account, question)
  const fields = fieldsAfter(row, account, subscription, question.settings.creditsPerUnit)
  const differing = accountDifference(state, fields, { label, question })
  const opening = openingOf(state, question.settings.creditsPerUnit)
  const byok = planByok(state, label)
  const keys = planKeys(state, label, question)
  return {
    label,
    account,
    fields: differing === undefined ? undefined : patchOf(fields, account),
    password: state.passwordKept ? undefined : row.password,
    opening,
    byok: byok.map((step) => step.put),
    keys: keys.map((step) => step.step),
    differences: [
      ...(differing === undefined ? [] : [differing]),
      ...(opening === undefined ? [] : [openingDifference(row, label)]),
      ...byok.map((step) => step.difference),
      ...keys.map((step) => step.difference),
    ],
  }
}

/** Fields that the file does not have: a new account gets the defaults, an existing one keeps its values. */
function fieldsAfter(
  row: AccountFileRow,
  account: Account | undefined,
  subscription: Subscription | undefined,
  creditsPerUnit: DecimalText,
): AccountFields {
  const old = account ?? { ...ACCOUNT_DEFAULTS, ...NEW_ACCOUNT }
  return {
    ...old,
    email: row.email ?? old.email,
    phone: row.phone ?? old.phone,
    role: row.role ?? old.role,
    status: row.status ?? old.status,
    verification: row.verification === undefined ? old.verification : verificationLevel(row.verification),
    userRate: row.userRate ?? old.userRate,
    apiDeduction: row.apiDeduction ?? old.apiDeduction,
    monthlyCap:
      row.monthlyCapYuan === undefined ? old.monthlyCap : creditsOfYuan(row.monthlyCapYuan, creditsPerUnit),
    autoExchange: autoExchangeAfter(row.autoExchange, old.autoExchange, creditsPerUnit),
    subscription,
    fallbackModel: row.fallbackModel === undefined ? old.fallbackModel : row.fallbackModel?.name,
    policy: row.limits ?? old.policy,
  }
}

const NEW_ACCOUNT = {
  kind: 'person',
  email: undefined,
  phone: undefined,
  passwordHash: undefined,
  fallbackModel: undefined,
  subscription: undefined,
  monthStart: 0,
  monthSpent: ZERO,
  owed: ZERO,
  monthHeld: ZERO,
} as const

function autoExchangeAfter(
  row: AutoExchangeRow | undefined,
  old: Account['autoExchange'],
  creditsPerUnit: DecimalText,
): Account['autoExchange'] {
  return {
    enabled: row?.enabled ?? old.enabled,
    belowCredits: row?.belowCredits === undefined ? old.belowCredits : creditsOfText(row.belowCredits),
    step: row?.stepYuan === undefined ? old.step : creditsOfYuan(row.stepYuan, creditsPerUnit),
  }
}

/** A running subscription to the plan in the file is left unchanged: applying a file twice does not extend it. */
function subscriptionAfter(
  row: SubscriptionRow | null | undefined,
  account: Account | undefined,
  { plans, at }: AccountQuestion,
): Subscription | undefined {
  if (row === undefined) return account?.subscription
  const running = account === undefined ? undefined : activeSubscription(account, at)
  if (row === null) return running === undefined ? account?.subscription : undefined
  if (running?.plan === row.plan.name) return running
  const plan = plans.get(row.plan.name)
  if (plan === undefined) throw new Error(`the plan ${row.plan.name} passed the checks and is not there`)
  return startSubscription(plan, row.days ?? plan.periodDays, at)
}

function accountDifference(
  state: AccountState,
  fields: AccountFields,
  told: { readonly label: string; readonly question: AccountQuestion },
): Difference | undefined {
  const { account, row, passwordKept } = state
  const { creditsPerUnit } = told.question.settings
  const to = { ...accountForm(fields, creditsPerUnit), subscription: subscriptionForm(fields.subscription) }
  const password =
    passwordKept || row.password === undefined ? [] : [{ field: 'password', from: undefined, to: HIDDEN }]
  const subject = { what: 'account', name: told.label } as const
  if (account === undefined)
    return { ...subject, action: 'create', fields: [...fieldsOfNew(to), ...password] }
  const from = {
    ...accountForm(account, creditsPerUnit),
    subscription: subscriptionForm(account.subscription),
  }
  const differing = [...compareForms(from, to), ...password]
  return differing.length === 0 ? undefined : { ...subject, action: 'change', fields: differing }
}

function subscriptionForm(subscription: Subscription | undefined): JsonObject | null {
  if (subscription === undefined) return null
  return { plan: subscription.plan, expires_at: new Date(subscription.expiresAt).toISOString() }
}

/** The members for the store; for an existing account only those that differ, so that nothing else is overwritten. */
function patchOf(fields: AccountFields, account: Account | undefined): AccountPatch {
  const whole: AccountPatch = {
    email: fields.email,
    phone: fields.phone,
    role: fields.role,
    status: fields.status,
    verification: fields.verification,
    userRate: fields.userRate,
    apiDeduction: fields.apiDeduction,
    monthlyCap: fields.monthlyCap,
    autoExchange: fields.autoExchange,
    subscription: fields.subscription,
    fallbackModel: fields.fallbackModel,
    policy: fields.policy,
  }
  if (account === undefined) return whole
  return {
    ...(fields.email === account.email ? {} : { email: fields.email }),
    ...(fields.phone === account.phone ? {} : { phone: fields.phone }),
    ...(fields.role === account.role ? {} : { role: fields.role }),
    ...(fields.status === account.status ? {} : { status: fields.status }),
    ...(fields.verification === account.verification ? {} : { verification: fields.verification }),
    ...(fields.userRate === account.userRate ? {} : { userRate: fields.userRate }),
    ...(fields.apiDeduction === account.apiDeduction ? {} : { apiDeduction: fields.apiDeduction }),
    ...(fields.monthlyCap === account.monthlyCap ? {} : { monthlyCap: fields.monthlyCap }),
    ...(isSameExchange(fields.autoExchange, account.autoExchange)
      ? {}
      : { autoExchange: fields.autoExchange }),
    ...(fields.subscription === account.subscription ? {} : { subscription: fields.subscription }),
    ...(fields.fallbackModel === account.fallbackModel ? {} : { fallbackModel: fields.fallbackModel }),
    ...(fields.policy === account.policy ? {} : { policy: fields.policy }),
  }
}

function isSameExchange(left: Account['autoExchange'], right: Account['autoExchange']): boolean {
  return (
    left.enabled === right.enabled && left.belowCredits === right.belowCredits && left.step === right.step
  )
}

function openingOf({ row, opened }: AccountState, creditsPerUnit: DecimalText): OpeningAmounts | undefined {
  if (opened) return undefined
  const credits = row.credits === undefined ? ZERO : creditsOfText(row.credits)
  const balance = row.balance === undefined ? ZERO : creditsOfYuan(row.balance, creditsPerUnit)
  if (credits === 0n && balance === 0n) return undefined
  return { credits, balance, creditsPerUnit: balance === 0n ? undefined : creditsPerUnit }
}

function openingDifference(row: AccountFileRow, label: string): Difference {
  const amounts = [
    { field: 'credits', text: row.credits },
    { field: 'balance', text: row.balance },
  ]
  return {
    action: 'grant',
    what: 'opening',
    name: label,
    fields: amounts.flatMap(({ field, text }) =>
      text === undefined || Number(text) === 0 ? [] : [{ field, from: undefined, to: numberForm(text) }],
    ),
  }
}

interface PlannedByok {
  readonly put: ByokPut
  readonly difference: Difference
}

function planByok(state: AccountState, label: string): readonly PlannedByok[] {
  return (state.row.byok ?? []).flatMap((row) => planOwnCredential(row, state, label))
}

/** A credential that is off and stays off is not changed: its stored secret cannot be compared. */
function planOwnCredential(row: ByokRow, state: AccountState, label: string): readonly PlannedByok[] {
  const vendor = row.vendor.name
  const stored = state.byok.get(vendor)
  const isOff = state.byokOff.includes(vendor)
  const secret = row.secret ?? stored
  if (secret === undefined || (isOff && !row.enabled)) return []
  const isNew = stored === undefined && !isOff
  const replaced = stored === undefined || !isSameSecret(secret, stored)
  const switched = isNew || isOff === row.enabled
  if (!replaced && !switched) return []
  const fields: Difference['fields'] = [
    ...(replaced ? [{ field: 'secret', from: isNew ? undefined : HIDDEN, to: HIDDEN }] : []),
    ...(switched ? [{ field: 'enabled', from: isNew ? undefined : !isOff, to: row.enabled }] : []),
  ]
  const difference: Difference = {
    action: isNew ? 'create' : 'change',
    what: 'byok',
    name: `${label} / ${vendor}`,
    fields,
  }
  return [{ put: { vendor, secret, enabled: row.enabled }, difference }]
}

interface PlannedKey {
  readonly step: KeyStep
  readonly difference: Difference
}

function planKeys(state: AccountState, label: string, question: AccountQuestion): readonly PlannedKey[] {
  const rows = state.row.keys
  if (rows === undefined) return []
  const matched = rows.map((row) => ({ row, stored: matchKey(row, state) }))
  const planned = matched.flatMap(({ row, stored }) => planKey(row, stored, label, question.settings))
  if (question.missing === 'stays') return planned
  const pruned = state.keys
    .filter((key) => key.status === 'enabled' && !matched.some(({ stored }) => stored?.id === key.id))
    .map(
      (key): PlannedKey => ({
        step: { kind: 'patch', id: key.id, patch: { status: 'disabled' } },
        difference: { action: 'disable', what: 'key', name: `${label} / ${key.name}`, fields: [] },
      }),
    )
  return [...planned, ...pruned]
}

function planKey(
  row: KeyRow,
  stored: Key | undefined,
  label: string,
  settings: Settings,
): readonly PlannedKey[] {
  const secret = row.secret?.value
  const key: KeyFields = {
    name: row.name,
    status: row.status ?? (stored?.status === 'disabled' ? 'disabled' : 'enabled'),
    expiresAt: orStored(row.expiresAt, stored?.expiresAt),
    group: row.group === undefined ? stored?.group : row.group?.name,
    models:
      row.models === undefined ? (stored?.models ?? []) : [...new Set(row.models.map((model) => model.name))],
    ipAllow: row.ipAllow ?? stored?.ipAllow ?? [],
    policy: orStored(row.policy, stored?.policy),
  }
  const name = `${label} / ${row.name}`
  if (stored === undefined) {
    const origin = secret === undefined ? 'generated' : HIDDEN
    const fields = [...fieldsOfNew(keyForm(key)), { field: 'secret', from: undefined, to: origin }]
    return [
      { step: { kind: 'create', key, secret }, difference: { action: 'create', what: 'key', name, fields } },
    ]
  }
  const replaced = secret !== undefined && hashKeySecret(secret) !== stored.hash
  const fields = compareForms(keyForm(stored), keyForm(key))
  if (fields.length === 0 && !replaced) return []
  const patch: KeyPatch = {
    ...changedMembers(key, stored),
    ...(replaced ? { hash: hashKeySecret(secret), hint: keyHint(secret, settings.keyPrefix) } : {}),
  }
  const more = replaced ? [{ field: 'secret', from: HIDDEN, to: HIDDEN }] : []
  return [
    {
      step: { kind: 'patch', id: stored.id, patch },
      difference: { action: 'change', what: 'key', name, fields: [...fields, ...more] },
    },
  ]
}

function changedMembers(key: KeyFields, stored: Key): KeyPatch {
  const [from, to] = [keyForm(stored), keyForm(key)]
  const differs = (member: string) => !isSame(from[member], to[member])
  return {
    ...(differs('name') ? { name: key.name } : {}),
    ...(differs('status') ? { status: key.status } : {}),
    ...(differs('expires_at') ? { expiresAt: key.expiresAt } : {}),
    ...(differs('group') ? { group: key.group } : {}),
    ...(differs('models') ? { models: key.models } : {}),
    ...(differs('ip_allow') ? { ipAllow: key.ipAllow } : {}),
    ...(differs('policy') ? { policy: key.policy } : {}),
  }
}
