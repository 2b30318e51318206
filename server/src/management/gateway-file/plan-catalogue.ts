/**
 * Compares a gateway file's vendors, models, groups, plans and settings with the stored ones → changes and their
 * description.
 */
import { credentialOfChain, IMPLIED_CREDENTIAL, type Names } from '../../config/gateway-file/check-rows.ts'
import type {
  ChainRow,
  CredentialRow,
  GatewayFile,
  GroupRow,
  ModelRow,
  PlanRow,
  PricingRow,
  VendorRow,
} from '../../config/gateway-file/gateway-file.ts'
import {
  type Catalogue,
  type Chain,
  CLIENT_GONE_GRACE_MS,
  type Credential,
  type CredentialSecret,
  type Group,
  MIN_BYTES_PER_SECOND,
  type Model,
  type ModelFields,
  type Plan,
  type Pricing,
  type Settings,
  type Vendor,
} from '../../core/catalogue.ts'
import type { VendorCode } from '../../core/ids.ts'
import { UNLIMITED } from '../../core/limits/policy.ts'
import type { JsonObject } from '../../core/json.ts'
import { settingsAfter } from '../../config/gateway-file/settings-after.ts'
import type { CatalogueChange } from '../../storage/stores/records.ts'
import { compareForms, type Difference, type FieldDifference, fieldsOfNew, HIDDEN } from './difference.ts'
import {
  chainForm,
  credentialForm,
  groupForm,
  modelForm,
  planForm,
  settingsForm,
  vendorForm,
} from './forms.ts'

export interface CataloguePlan {
  readonly changes: readonly CatalogueChange[]
  readonly differences: readonly Difference[]
  /** Settings as they will be after applying. */
  readonly settings: Settings
  readonly plans: ReadonlyMap<string, Plan>
}

export interface CatalogueQuestion {
  readonly file: GatewayFile
  readonly stored: Catalogue
  readonly names: Names
  readonly missing: 'stays' | 'prune'
}

/** A step: a change of the store and its description. */
interface Step {
  readonly change: CatalogueChange
  readonly difference: Difference
}

export function planCatalogue(question: CatalogueQuestion): CataloguePlan {
  const { file, stored } = question
  const settings = settingsAfter(file.settings, stored.settings)
  const plans = (file.plans ?? []).map((row) => mergePlan(row, stored.plans.get(row.code), settings))
  const steps: readonly Step[] = [
    ...planSettings(settings, stored.settings),
    ...(file.vendors ?? []).flatMap((row) => planVendor(row, stored)),
    ...(file.models ?? []).flatMap((row) => planModel(row, question, settings)),
    ...(file.groups ?? []).flatMap((row) => planGroup(row, stored.groups.get(row.name))),
    ...plans.flatMap((plan) => planPlan(plan, stored.plans.get(plan.code))),
    ...(question.missing === 'prune' ? planPruning(question) : []),
  ]
  const kept = file.plans !== undefined && question.missing === 'prune' ? [] : [...stored.plans.values()]
  return {
    changes: steps.map((step) => step.change),
    differences: steps.map((step) => step.difference),
    settings,
    plans: new Map([...kept, ...plans].map((plan) => [plan.code, plan])),
  }
}

interface RowStep {
  readonly what: string
  readonly name: string
  readonly from: JsonObject | undefined
  readonly to: JsonObject
  readonly change: CatalogueChange
  /** Differences not visible in the form: secrets. */
  readonly more?: readonly FieldDifference[]
}

/** Returns nothing if the row equals the stored one. */
function stepOf({ what, name, from, to, change, more = [] }: RowStep): readonly Step[] {
  if (from === undefined) {
    return [{ change, difference: { action: 'create', what, name, fields: [...fieldsOfNew(to), ...more] } }]
  }
  const fields = [...compareForms(from, to), ...more]
  return fields.length === 0 ? [] : [{ change, difference: { action: 'change', what, name, fields } }]
}

function planSettings(settings: Settings, stored: Settings): readonly Step[] {
  return stepOf({
    what: 'settings',
    name: 'settings',
    from: settingsForm(stored),
    to: settingsForm(settings),
    change: { kind: 'put-settings', settings },
  })
}

/** gateway file, vendors[].timeouts */
export const TIMEOUTS_DEFAULT = { connectMs: 5000, firstByteMs: 120_000, idleMs: 300_000 }

function planVendor(row: VendorRow, stored: Catalogue): readonly Step[] {
  const old = stored.vendors.get(row.code)
  const kind = row.kind ?? old?.kind
  if (kind === undefined) throw new Error(`the new vendor ${row.code} passed the checks without a kind`)
  const vendor: Vendor = {
    code: row.code,
    name: row.name ?? old?.name ?? row.code,
    kind,
    baseUrl: row.baseUrl === undefined ? old?.baseUrl : (row.baseUrl ?? undefined),
    timeouts: { ...(old?.timeouts ?? TIMEOUTS_DEFAULT), ...row.timeouts },
    status: row.status,
  }
  const own = [...stored.credentials.values()].filter((credential) => credential.vendorCode === row.code)
  return [
    ...stepOf({
      what: 'vendor',
      name: row.code,
      from: old === undefined ? undefined : vendorForm(old),
      to: vendorForm(vendor),
      change: { kind: 'put-vendor', vendor },
    }),
    ...credentialRows(row, own).flatMap((credential) =>
      planCredential(
        row.code,
        credential,
        own.find((one) => one.name === credential.name),
      ),
    ),
  ]
}

/** A new vendor without credentials gets one without a secret: some upstreams need none. */
function credentialRows(row: VendorRow, own: readonly Credential[]): readonly CredentialRow[] {
  if (row.credentials !== undefined || own.length > 0) return row.credentials ?? []
  return [
    { place: row.place, name: IMPLIED_CREDENTIAL, secret: undefined, limits: undefined, status: 'enabled' },
  ]
}

function planCredential(
  vendorCode: VendorCode,
  row: CredentialRow,
  old: Credential | undefined,
): readonly Step[] {
  const limits = row.limits ?? old?.limits ?? UNLIMITED
  const { name, secret, status } = row
  const replaced = secret !== undefined && (old === undefined || !isSameSecret(secret, old.secret))
  return stepOf({
    what: 'credential',
    name: `${vendorCode} / ${name}`,
    from: old === undefined ? undefined : credentialForm(old),
    to: credentialForm({ name, limits, status }),
    change: {
      kind: 'put-credential',
      vendorCode,
      name,
      secret: replaced ? secret : undefined,
      limits,
      status,
    },
    more: replaced ? [{ field: 'secret', from: old === undefined ? undefined : HIDDEN, to: HIDDEN }] : [],
  })
}

export function isSameSecret(left: CredentialSecret, right: CredentialSecret): boolean {
  return flattened(left) === flattened(right)
}

function flattened({ secret, fields }: CredentialSecret): string {
  const members = Object.entries(fields).map(([name, value]) => [name, value.unwrap()] as const)
  return JSON.stringify([secret?.unwrap() ?? null, members.sort(([one], [other]) => (one < other ? -1 : 1))])
}

function planModel(row: ModelRow, question: CatalogueQuestion, settings: Settings): readonly Step[] {
  const old = question.stored.models.get(row.modelId)
  const model = mergeModel(row, old, settings)
  return [
    ...stepOf({
      what: 'model',
      name: row.modelId,
      from: old === undefined ? undefined : modelForm(old),
      to: modelForm(model),
      change: { kind: 'put-model', model },
    }),
    ...(row.chains ?? []).flatMap((chain) => planChain(chain, row, old, question)),
  ]
}

function mergeModel(row: ModelRow, old: Model | undefined, settings: Settings): ModelFields {
  const pricing = row.pricing === undefined ? old?.pricing : pricingOf(row.pricing, settings)
  if (pricing === undefined) throw new Error(`the new model ${row.modelId} passed the checks without prices`)
  return {
    modelId: row.modelId,
    name: row.name ?? old?.name ?? row.modelId,
    status: row.status,
    clientVisible: row.clientVisible ?? old?.clientVisible ?? true,
    supportFeatures: row.supportFeatures ?? old?.supportFeatures ?? ['text'],
    requiredVerification: row.requiredVerification ?? old?.requiredVerification ?? 0,
    requiredPlan: row.requiredPlan ?? old?.requiredPlan ?? 0,
    contextTokens: orStored(row.contextTokens, old?.contextTokens),
    maxOutputTokens: orStored(row.maxOutputTokens, old?.maxOutputTokens),
    subscriptionCovered: row.subscriptionCovered ?? old?.subscriptionCovered ?? true,
    pricing,
    surcharges: row.surcharges ?? old?.surcharges ?? {},
    refuse: [...new Set(row.refuse ?? old?.refuse ?? [])],
  }
}

/** As checked: one that names no currency is in the platform's own. */
/** Prices without their positions in the file. */
export function pricingOf(
  { currencyPlace: _currencyPlace, outputPricePlace: _outputPricePlace, ...row }: PricingRow,
  { currency }: Settings,
): Pricing {
  return { ...row, currency: row.currency ?? currency }
}

/** null: the file says none; undefined: not in the file, so the stored value is kept. */
export function orStored<Value>(
  written: Value | null | undefined,
  stored: Value | undefined,
): Value | undefined {
  return written === undefined ? stored : (written ?? undefined)
}

function planChain(
  row: ChainRow,
  model: ModelRow,
  oldModel: Model | undefined,
  { names, stored }: CatalogueQuestion,
): readonly Step[] {
  const credentialName = credentialOfChain(row, names)
  if (credentialName === undefined)
    throw new Error(`a chain of ${model.modelId} passed the checks without a credential`)
  const old = oldModel?.chains.find(
    (chain) =>
      chain.vendorCode === row.vendor.name &&
      stored.credentials.get(chain.credentialId)?.name === credentialName &&
      chain.protocol === row.protocol &&
      chain.forwardModelId === row.forwardModelId,
  )
  const chain: Omit<Chain, 'id' | 'credentialId'> = {
    modelId: model.modelId,
    vendorCode: row.vendor.name,
    protocol: row.protocol,
    forwardModelId: row.forwardModelId,
    priority: row.priority ?? old?.priority ?? 1,
    weight: row.weight ?? old?.weight ?? 100,
    rateMultiplier: row.rateMultiplier ?? old?.rateMultiplier ?? '1',
    streamUsage: row.streamUsage ?? old?.streamUsage ?? 'forward',
    clientGoneGraceMs: row.clientGoneGraceMs ?? old?.clientGoneGraceMs ?? CLIENT_GONE_GRACE_MS,
    minBytesPerSecond: row.minBytesPerSecond ?? old?.minBytesPerSecond ?? MIN_BYTES_PER_SECOND,
    capabilities: row.capabilities ?? old?.capabilities ?? {},
    status: row.status,
  }
  return stepOf({
    what: 'chain',
    name: chainName(chain, credentialName),
    from: old === undefined ? undefined : chainForm(old, credentialName),
    to: chainForm(chain, credentialName),
    change: { kind: 'put-chain', chain, credentialName },
  })
}

function chainName(chain: Omit<Chain, 'id' | 'credentialId'>, credentialName: string): string {
  return `${chain.modelId} / ${chain.vendorCode} ${credentialName} ${chain.protocol} ${chain.forwardModelId}`
}

function planGroup(row: GroupRow, old: Group | undefined): readonly Step[] {
  const protocol = row.protocol ?? old?.protocol
  const models = row.models?.map((model) => model.name) ?? old?.models
  if (protocol === undefined || models === undefined) {
    throw new Error(`the new group ${row.name} passed the checks without a protocol or models`)
  }
  const group: Group = { name: row.name, protocol, models: [...new Set(models)] }
  return stepOf({
    what: 'group',
    name: row.name,
    from: old === undefined ? undefined : groupForm(old),
    to: groupForm(group),
    change: { kind: 'put-group', group },
  })
}

const PERIOD_DAYS_DEFAULT = 30

function mergePlan(row: PlanRow, old: Plan | undefined, settings: Settings): Plan {
  const level = row.level ?? old?.level
  const price = row.price ?? old?.price
  if (level === undefined || price === undefined) {
    throw new Error(`the new plan ${row.code} passed the checks without a level or price`)
  }
  return {
    code: row.code,
    level,
    price,
    currency: row.currency ?? old?.currency ?? settings.currency,
    periodDays: row.periodDays ?? old?.periodDays ?? PERIOD_DAYS_DEFAULT,
    quota: row.quota ?? old?.quota ?? [],
  }
}

function planPlan(plan: Plan, old: Plan | undefined): readonly Step[] {
  return stepOf({
    what: 'plan',
    name: plan.code,
    from: old === undefined ? undefined : planForm(old),
    to: planForm(plan),
    change: { kind: 'put-plan', plan },
  })
}

/** Rows missing from the file's sections: switched off if a row can be off, otherwise removed. */
function planPruning({ file, stored, names }: CatalogueQuestion): readonly Step[] {
  return [
    ...pruneVendors(file, stored),
    ...pruneModels(file, stored, names),
    ...(file.groups === undefined ? [] : [...stored.groups.keys()])
      .filter((name) => !file.groups?.some((row) => row.name === name))
      .map((name) => gone('remove', 'group', name, { kind: 'remove-group', name })),
    ...(file.plans === undefined ? [] : [...stored.plans.keys()])
      .filter((code) => !file.plans?.some((row) => row.code === code))
      .map((code) => gone('remove', 'plan', code, { kind: 'remove-plan', code })),
  ]
}

function pruneVendors(file: GatewayFile, stored: Catalogue): readonly Step[] {
  if (file.vendors === undefined) return []
  const rows = new Map(file.vendors.map((row) => [row.code, row]))
  const vendors = [...stored.vendors.values()]
    .filter((vendor) => !rows.has(vendor.code) && vendor.status !== 'disabled')
    .map(({ code }) => gone('disable', 'vendor', code, { kind: 'disable-vendor', code }))
  const credentials = [...stored.credentials.values()]
    .filter(({ vendorCode, name, status }) => {
      const written = rows.get(vendorCode)?.credentials
      return status !== 'disabled' && written !== undefined && !written.some((row) => row.name === name)
    })
    .map(({ vendorCode, name }) =>
      gone('disable', 'credential', `${vendorCode} / ${name}`, {
        kind: 'disable-credential',
        vendorCode,
        name,
      }),
    )
  return [...vendors, ...credentials]
}

function pruneModels(file: GatewayFile, stored: Catalogue, names: Names): readonly Step[] {
  if (file.models === undefined) return []
  const rows = new Map(file.models.map((row) => [row.modelId, row]))
  return [...stored.models.values()].flatMap((model) => {
    const row = rows.get(model.modelId)
    if (row === undefined) {
      const { modelId } = model
      return model.status === 'disabled'
        ? []
        : [gone('disable', 'model', modelId, { kind: 'disable-model', modelId })]
    }
    return model.chains
      .filter((chain) => row.chains !== undefined && chain.status !== 'disabled')
      .flatMap((chain) => {
        const credentialName = stored.credentials.get(chain.credentialId)?.name ?? ''
        const written = row.chains?.some(
          (one) =>
            one.vendor.name === chain.vendorCode &&
            credentialOfChain(one, names) === credentialName &&
            one.protocol === chain.protocol &&
            one.forwardModelId === chain.forwardModelId,
        )
        return written === true
          ? []
          : [
              gone('disable', 'chain', chainName(chain, credentialName), {
                kind: 'disable-chain',
                id: chain.id,
              }),
            ]
      })
  })
}

function gone(action: 'disable' | 'remove', what: string, name: string, change: CatalogueChange): Step {
  return { change, difference: { action, what, name, fields: [] } }
}
