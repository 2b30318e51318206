/** `sluice export`: what is stored, in the form it can be applied from, without secrets. */
import { DAY_MS } from '../../core/durations.ts'
import { Document, isMap, isScalar, visit, type YAMLMap, YAMLSeq } from 'yaml'
import type { Catalogue, Credential, Model, Vendor } from '../../core/catalogue.ts'
import { type JsonObject, type JsonValue, isJsonObject } from '../../core/json.ts'
import type { Storage } from '../../storage/storage.ts'
import { activeSubscription, eachAccount } from '../accounts/accounts.ts'
import { creditsText, exactYuanText } from '../money/amounts.ts'
import {
  accountForm,
  chainForm,
  credentialForm,
  groupForm,
  keyForm,
  modelForm,
  numberForm,
  planForm,
  settingsForm,
  vendorForm,
} from './forms.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { ByokEntry, Key } from '../../storage/stores/keys.ts'

export interface ExportOptions {
  readonly format: 'yaml' | 'json'
  /** Epoch ms; the remaining time of a subscription is counted from it. */
  readonly at: number
}

/** A row as it is written, with remarks for the reader. */
interface WrittenRow {
  readonly form: JsonObject
  /** Written as comments above the row's second member; JSON has no comments. */
  readonly remarks: readonly string[]
  /** Lists of rows inside this one, by member. */
  readonly rows?: Readonly<Record<string, readonly WrittenRow[]>>
}

const HEAD = [
  ' Written by sluice export. Secrets are not in it: provider credentials, passwords and API keys stay where they are',
  ' stored. Applying this file where it came from changes nothing. On a new instance, put the secrets in first.',
].join('\n')

export async function exportGatewayFile(
  storage: Pick<Storage, 'catalogue' | 'accounts' | 'keys'>,
  { format, at }: ExportOptions,
): Promise<string> {
  const catalogue = await storage.catalogue.read()
  const accounts: WrittenRow[] = []
  for await (const account of eachAccount(storage)) {
    // Organisations are managed by their members; a file can neither describe nor recreate them.
    if (account.kind === 'organisation') continue
    const keys = await storage.keys.list(account.id)
    const byok = await storage.accounts.listByok(account.id)
    accounts.push(accountRow({ account, keys, byok, catalogue, at }))
  }
  const file: WrittenRow = {
    form: { settings: settingsForm(catalogue.settings) },
    remarks: [],
    rows: {
      vendors: [...catalogue.vendors.values()].map((vendor) => vendorRow(vendor, catalogue)),
      models: [...catalogue.models.values()].map((model) => modelRow(model, catalogue)),
      groups: [...catalogue.groups.values()].map((group) => ({ form: groupForm(group), remarks: [] })),
      plans: [...catalogue.plans.values()].map((plan) => ({ form: planForm(plan), remarks: [] })),
      accounts,
    },
  }
  return format === 'json' ? `${JSON.stringify(plainForm(file), undefined, 2)}\n` : yamlText(file)
}

function vendorRow(vendor: Vendor, catalogue: Catalogue): WrittenRow {
  const credentials = [...catalogue.credentials.values()].filter((one) => one.vendorCode === vendor.code)
  return {
    form: vendorForm(vendor),
    remarks: [],
    rows: {
      credentials: credentials.map((one) => ({ form: credentialForm(one), remarks: secretRemarks(one) })),
    },
  }
}

/** Says what to write in place of the missing secret, with a suggested variable name. */
function secretRemarks({ vendorCode, name, secret }: Credential): readonly string[] {
  const variable = variableName(`${vendorCode}_${name}`)
  const fields = Object.keys(secret.fields).map((field) => `${field}: \${${variable}_${variableName(field)}}`)
  return [
    ...(secret.secret === undefined ? [] : [`secret: \${${variable}}`]),
    ...(fields.length === 0 ? [] : [`fields: {${fields.join(', ')}}`]),
  ]
}

function variableName(text: string): string {
  return text.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
}

function modelRow(model: Model, catalogue: Catalogue): WrittenRow {
  const chains = model.chains.map((chain) => {
    const credential = catalogue.credentials.get(chain.credentialId)
    if (credential === undefined) throw new Error(`chain ${chain.id} has lost its credential`)
    return { form: chainForm(chain, credential.name), remarks: [] }
  })
  return { form: modelForm(model), remarks: [], rows: { chains } }
}

interface StoredAccount {
  readonly account: Account
  readonly keys: readonly Key[]
  readonly byok: readonly ByokEntry[]
  readonly catalogue: Catalogue
  readonly at: number
}

/** In the order of docs/reference/gateway-file.md. */
function accountRow(stored: StoredAccount): WrittenRow {
  const { account, catalogue } = stored
  const { creditsPerUnit } = catalogue.settings
  const { email, phone, role, status, verification, user_rate, ...rest } = accountForm(
    account,
    creditsPerUnit,
  )
  const { fallback_model, limits, ...switches } = rest
  const subscription = subscriptionOf(stored)
  return {
    form: {
      ...(email === null ? {} : { email }),
      ...(phone === null ? {} : { phone }),
      role,
      status,
      verification,
      user_rate,
      credits: account.credits > 0n ? numberForm(creditsText(account.credits)) : 0,
      balance: account.balance > 0n ? numberForm(exactYuanText(account.balance, creditsPerUnit)) : 0,
      ...switches,
      ...subscription.form,
      fallback_model,
      limits,
    },
    remarks: [
      ...(account.passwordHash === undefined ? [] : ['password: stored as a hash']),
      ...(account.credits < 0n
        ? [`credits: ${creditsText(account.credits)}, below zero by one call's overrun`]
        : []),
      ...subscription.remarks,
    ],
    rows: {
      byok: stored.byok.map(({ vendor, enabled }) => ({
        form: { vendor, enabled },
        remarks: ["secret: the customer's own"],
      })),
      keys: stored.keys.toSorted(byName).map((key) => keyRow(key, catalogue)),
    },
  }
}

/** Sorts by natural key, so that two exports of the same keys are identical. */
function byName(left: Key, right: Key): number {
  return left.name < right.name ? -1 : 1
}

function subscriptionOf({ account, catalogue, at }: StoredAccount): Omit<WrittenRow, 'rows'> {
  const running = activeSubscription(account, at)
  // An expired one is not written, which leaves it unchanged.
  if (running === undefined) return { form: {}, remarks: [] }
  if (!catalogue.plans.has(running.plan)) {
    return { form: {}, remarks: [`subscription: to ${running.plan}, which is no longer sold`] }
  }
  const days = Math.max(1, Math.ceil((running.expiresAt - at) / DAY_MS))
  return { form: { subscription: { plan: running.plan, days } }, remarks: [] }
}

function keyRow(key: Key, catalogue: Catalogue): WrittenRow {
  const form = keyForm(key)
  const stored = `secret: stored as a hash, begins with ${key.hint}`
  if (key.group === undefined || catalogue.groups.has(key.group)) return { form, remarks: [stored] }
  const { group: _gone, ...rest } = form
  return { form: rest, remarks: [stored, `group: ${key.group}, which no longer exists`] }
}

/** The row with its lists of rows in it, with `${` escaped, so that applying does not read it as a variable. */
function plainForm({ form, rows = {} }: WrittenRow): JsonObject {
  const lists = Object.entries(rows).map(([name, list]) => [name, list.map(plainForm)] as const)
  return { ...escapedObject(form), ...Object.fromEntries(lists) }
}

function escapedObject(form: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(form).map(([name, value]) => [name, escaped(value ?? null)]))
}

function escaped(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${')
  if (Array.isArray(value)) return value.map(escaped)
  return isJsonObject(value) ? escapedObject(value) : value
}

function yamlText(file: WrittenRow): string {
  const document = new Document<YAMLMap>()
  document.contents = yamlMap(file, document)
  document.commentBefore = HEAD
  for (const pair of document.contents.items.slice(1)) if (isScalar(pair.key)) pair.key.spaceBefore = true
  return document.toString({ lineWidth: 120, flowCollectionPadding: false })
}

function yamlMap(row: WrittenRow, document: Document): YAMLMap {
  const map = document.createNode(escapedObject(row.form))
  if (!isMap(map)) throw new Error('a row is not a map')
  visit(map, { Seq: writeOnOneLine, Map: writeOnOneLine })
  for (const [name, rows] of Object.entries(row.rows ?? {})) {
    const list = new YAMLSeq()
    list.items = rows.map((one) => yamlMap(one, document))
    map.add(document.createPair(name, list))
  }
  const second = map.items[1]?.key
  if (row.remarks.length > 0 && isScalar(second)) {
    second.commentBefore = row.remarks.map((remark) => ` ${remark}`).join('\n')
  }
  return map
}

const ONE_LINE_MEMBERS_MAX = 3

/**
 * Whether to write it on one line: a list of words, or a small map such as a window; never the row itself, which has no
 * key.
 */
function writeOnOneLine(key: unknown, node: YAMLMap | YAMLSeq): void {
  if (key === null) return
  const values = isMap(node) ? node.items.map((pair) => pair.value) : node.items
  const isSmall = !isMap(node) || values.length <= ONE_LINE_MEMBERS_MAX
  if (isSmall && values.every(isScalar)) node.flow = true
}
