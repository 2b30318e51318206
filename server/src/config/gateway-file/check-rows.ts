/**
 * Checks across rows: names that must exist, keys that must be unique, members that only a new row requires. "Exists"
 * means: is in this file, or is in the catalogue already and stays.
 */
import { say, type Sentence } from '../../core/sentences/say.ts'
import { billedBy, type Catalogue, makesOutputTokens } from '../../core/catalogue.ts'
import { currencyOfPrice, type PriceAsked, replacedPrice } from '../../core/pricing/currency.ts'
import { nearestName } from '../../core/nearest-name.ts'
import type { Place, Report } from './file-node.ts'
import type {
  AccountFileRow,
  ChainRow,
  GatewayFile,
  KeyRow,
  ModelRow,
  Named,
  VendorRow,
} from './gateway-file.ts'
import { settingsAfter } from './settings-after.ts'
import { withNearest } from './values.ts'

/** A mistake refuses the file; a warning is reported, and the file is applied. */
export interface RowReports {
  readonly mistake: Report
  readonly warning: Report
}

export interface RowContext {
  /** What is stored now. */
  readonly known: Catalogue
  /** `prune`: rows missing from the file's sections will be removed, so nothing may refer to them. */
  readonly missing: 'stays' | 'prune'
  readonly kinds: readonly VendorKindRules[]
}

/** What rows need to know about a vendor kind that has a provider. */
export interface VendorKindRules {
  readonly kind: string
  /** Protocols that its chains may have. */
  readonly protocols: readonly string[]
  /** undefined: it has no default address. */
  readonly baseUrl: string | undefined
}

/** Every name a row may refer to. */
export interface Names {
  readonly vendors: ReadonlySet<string>
  /** Vendor code → names of its credentials. */
  readonly credentials: ReadonlyMap<string, readonly string[]>
  readonly models: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  readonly plans: ReadonlySet<string>
}

/** The credential of a vendor whose row has none: one without a secret, for upstreams that need none. */
export const IMPLIED_CREDENTIAL = 'main'

export function checkRows(file: GatewayFile, context: RowContext, reports: RowReports): void {
  const report = reports.mistake
  const names = namesAfter(file, context)
  checkCurrencies(file, context, report)
  checkVendors(file.vendors ?? [], context, report)
  checkModels(file, names, context, reports)
  checkGroups(file, names, context, reports)
  checkPlans(file, context, report)
  const keyPrefix = file.settings?.keyPrefix ?? context.known.settings.keyPrefix
  checkAccounts(file.accounts ?? [], { names, keyPrefix }, report)
}

/** Checks that every price has a currency with a rate. */
function checkCurrencies(file: GatewayFile, { known }: RowContext, report: Report): void {
  const settings = settingsAfter(file.settings, known.settings)
  const { currency } = file.settings ?? {}
  if (file.settings !== undefined && currency !== undefined && currency !== settings.currency)
    report(
      file.settings.currencyPlace,
      say('currency-without-rate', { currency, written: `{${currency}: …}` }),
    )
  const check = (asked: PriceAsked, place: Place) => {
    const found = currencyOfPrice(asked, settings)
    if (found.kind === 'mistake') report(place, found.message)
  }
  for (const { modelId, pricing, surcharges } of file.models ?? []) {
    const old = known.models.get(modelId)
    if (pricing !== undefined)
      check({ written: pricing.currency, replaced: replacedPrice(old, surcharges) }, pricing.currencyPlace)
  }
  for (const { code, price, currency: written, currencyPlace } of file.plans ?? []) {
    const replaced = known.plans.get(code)
    if (price !== undefined || written !== undefined) check({ written, replaced }, currencyPlace)
  }
}

/** The names that will exist once the file is applied. */
export function namesAfter(
  file: GatewayFile,
  { known, missing }: Pick<RowContext, 'known' | 'missing'>,
): Names {
  const union = (rows: readonly string[] | undefined, stored: Iterable<string>) =>
    new Set([...(rows ?? []), ...(rows !== undefined && missing === 'prune' ? [] : stored)])
  const vendors = union(
    file.vendors?.map((row) => row.code),
    known.vendors.keys(),
  )
  return {
    vendors,
    credentials: new Map(
      [...vendors].map((vendor) => [vendor, credentialsAfter(vendor, file, known, missing)]),
    ),
    models: union(
      file.models?.map((row) => row.modelId),
      known.models.keys(),
    ),
    groups: union(
      file.groups?.map((row) => row.name),
      known.groups.keys(),
    ),
    plans: union(
      file.plans?.map((row) => row.code),
      known.plans.keys(),
    ),
  }
}

function credentialsAfter(
  vendor: string,
  file: GatewayFile,
  known: Catalogue,
  missing: RowContext['missing'],
): readonly string[] {
  const row = file.vendors?.find((one) => one.code === vendor)
  const written = row?.credentials?.map((credential) => credential.name)
  const stored = [...known.credentials.values()]
    .filter((credential) => credential.vendorCode === vendor)
    .map((credential) => credential.name)
  if (written === undefined) return stored.length === 0 && row !== undefined ? [IMPLIED_CREDENTIAL] : stored
  return [...new Set([...written, ...(missing === 'prune' ? [] : stored)])]
}

/** The credential of a chain; undefined: it names none and its vendor does not have exactly one. */
export function credentialOfChain(
  chain: Pick<ChainRow, 'vendor' | 'credential'>,
  names: Names,
): string | undefined {
  if (chain.credential !== undefined) return chain.credential.name
  const own = names.credentials.get(chain.vendor.name) ?? []
  return own.length === 1 ? own[0] : undefined
}

function checkVendors(rows: readonly VendorRow[], context: RowContext, report: Report): void {
  reportRepeated(rows, { what: say('word-vendor'), keyOf: (row) => row.code }, report)
  for (const row of rows) {
    reportRepeated(row.credentials ?? [], { what: say('word-credential'), keyOf: (one) => one.name }, report)
    const stored = context.known.vendors.get(row.code)
    const kind = row.kind ?? stored?.kind
    if (kind === undefined) reportMissing(row.place, 'kind', report)
    const address = row.baseUrl === undefined ? stored?.baseUrl : (row.baseUrl ?? undefined)
    const rules = context.kinds.find((one) => one.kind === kind)
    if (rules !== undefined && rules.baseUrl === undefined && address === undefined)
      reportMissing(row.place, 'base_url', report, say('kind-has-no-address', { kind: rules.kind }))
  }
}

function checkModels(
  { models: rows = [], vendors = [] }: GatewayFile,
  names: Names,
  context: RowContext,
  { mistake: report, warning }: RowReports,
): void {
  reportRepeated(rows, { what: say('word-model'), keyOf: (row) => row.modelId }, report)
  const kindOf = kindsOfVendors(vendors, context.known)
  for (const row of rows) {
    if (row.pricing === undefined && !context.known.models.has(row.modelId)) {
      reportMissing(row.place, 'pricing', report)
    }
    for (const chain of row.chains ?? []) {
      checkChain(chain, names, report)
      checkProtocol(
        chain,
        context.kinds.find(({ kind }) => kind === kindOf(chain.vendor.name)),
        report,
      )
    }
    checkOutputPrice(row, context, report)
    checkBilling(row, context, warning)
    checkVideoFeature(row, context, warning)
    reportRepeated(row.chains ?? [], { ...SAME_CHAIN, keyOf: (chain) => chainKey(chain, names) }, report)
  }
}

/** Only a model none of whose chains makes tokens needs no price for output. */
function checkOutputPrice(row: ModelRow, { known, missing }: RowContext, report: Report): void {
  const old = known.models.get(row.modelId)
  const pricing = row.pricing ?? old?.pricing
  if (pricing === undefined || pricing.outputPrice !== null || !pricing.billingModes.includes('token')) return
  const written = row.chains ?? []
  const kept = row.chains !== undefined && missing === 'prune' ? [] : (old?.chains ?? [])
  const all = [...written, ...kept]
  if (all.length > 0 && !all.some(({ protocol }) => makesOutputTokens(protocol))) return
  const message = say('missing-for-mode', { mode: 'token' })
  if (row.pricing !== undefined) report(row.pricing.outputPricePlace, message)
  else if (written.length > 0)
    report({ ...row.place, path: `${row.place.path}.pricing.output_price` }, message)
}

/**
 * A chain to which none of the model's prices apply gives its calls away. This is only a warning, because what was
 * exported must remain applicable.
 */
function checkBilling(row: ModelRow, { known }: RowContext, warning: Report): void {
  const modes = (row.pricing ?? known.models.get(row.modelId)?.pricing)?.billingModes
  if (modes === undefined) return
  for (const { protocol, place } of row.chains ?? []) {
    const ways = billedBy(protocol)
    if (modes.some((mode) => ways.includes(mode))) continue
    const message = say('calls-free', { protocol, ways: ways.join(' or ') })
    warning({ ...place, path: `${place.path}.protocol` }, message)
  }
}

/**
 * A model with video chains is not a video model unless its features say so (docs/reference/contract.md#4.4), so it
 * could not be called.
 */
function checkVideoFeature(row: ModelRow, { known }: RowContext, warning: Report): void {
  const features = row.supportFeatures ?? known.models.get(row.modelId)?.supportFeatures ?? []
  const chains = row.chains ?? []
  const makesVideos = chains.length > 0 && chains.every(({ protocol }) => protocol === 'video')
  if (!makesVideos || features.includes('video')) return
  const message = say('lacks-video')
  warning({ ...row.place, path: `${row.place.path}.support_features` }, message)
}

const SAME_CHAIN = { what: say('word-chain'), detail: say('of-the-same-chain') }

function chainKey(chain: ChainRow, names: Names): string {
  const credential = credentialOfChain(chain, names) ?? null
  return JSON.stringify([chain.vendor.name, credential, chain.protocol, chain.forwardModelId])
}

function checkChain(chain: ChainRow, names: Names, report: Report): void {
  if (!names.vendors.has(chain.vendor.name)) {
    reportUnknown(chain.vendor, say('word-vendor'), names.vendors, report)
    return
  }
  const credentials = names.credentials.get(chain.vendor.name) ?? []
  if (chain.credential !== undefined) {
    if (!credentials.includes(chain.credential.name)) {
      reportUnknown(
        chain.credential,
        say('word-credential-of', { vendor: chain.vendor.name }),
        credentials,
        report,
      )
    }
  } else if (credentials.length !== 1) {
    const vendor = chain.vendor.name
    const why =
      credentials.length === 0
        ? say('vendor-has-no-credential', { vendor })
        : say('vendor-has-several-credentials', { vendor, names: credentials.join(', ') })
    reportMissing(chain.place, 'credential', report, why)
  }
}

/** The kind each vendor will have. */
function kindsOfVendors(
  rows: readonly VendorRow[],
  { vendors }: Pick<Catalogue, 'vendors'>,
): (code: string) => string | undefined {
  const written = new Map(rows.map(({ code, kind }) => [String(code), kind]))
  const stored = new Map([...vendors.values()].map(({ code, kind }) => [String(code), kind]))
  return (code) => written.get(code) ?? stored.get(code)
}

function checkProtocol(
  { protocol, place, vendor }: ChainRow,
  rules: VendorKindRules | undefined,
  report: Report,
): void {
  if (rules === undefined || rules.protocols.includes(protocol)) return
  const message = say('protocol-not-spoken', {
    protocol,
    name: vendor.name,
    kind: rules.kind,
    protocols: rules.protocols.join(', '),
  })
  report({ ...place, path: `${place.path}.protocol` }, message)
}

/** A group may name models that do not exist yet: it only lists what its keys may call. */
function checkGroups(file: GatewayFile, names: Names, context: RowContext, reports: RowReports): void {
  const rows = file.groups ?? []
  reportRepeated(rows, { what: say('word-group'), keyOf: (row) => row.name }, reports.mistake)
  for (const row of rows) {
    const isNew = !context.known.groups.has(row.name)
    if (isNew && row.protocol === undefined) reportMissing(row.place, 'protocol', reports.mistake)
    if (isNew && row.models === undefined) reportMissing(row.place, 'models', reports.mistake)
    for (const model of row.models ?? [])
      requireKnown(model, say('word-model'), names.models, reports.warning)
  }
}

function checkPlans(file: GatewayFile, context: RowContext, report: Report): void {
  const rows = file.plans ?? []
  reportRepeated(rows, { what: say('word-plan'), keyOf: (row) => row.code }, report)
  for (const row of rows) {
    if (context.known.plans.has(row.code)) continue
    if (row.level === undefined) reportMissing(row.place, 'level', report)
    if (row.price === undefined) reportMissing(row.place, 'price', report)
  }
}

interface AccountContext {
  readonly names: Names
  readonly keyPrefix: string
}

function checkAccounts(rows: readonly AccountFileRow[], context: AccountContext, report: Report): void {
  const { names } = context
  reportRepeated(rows, { what: say('word-email'), keyOf: (row) => row.email }, report)
  reportRepeated(rows, { what: say('word-phone'), keyOf: (row) => row.phone }, report)
  for (const row of rows) {
    if (row.subscription) requireKnown(row.subscription.plan, say('word-plan'), names.plans, report)
    if (row.fallbackModel) requireKnown(row.fallbackModel, say('word-model'), names.models, report)
    reportRepeated(
      row.byok ?? [],
      { what: say('word-own-credential'), keyOf: (byok) => byok.vendor.name },
      report,
    )
    for (const byok of row.byok ?? []) requireKnown(byok.vendor, say('word-vendor'), names.vendors, report)
    reportRepeated(row.keys ?? [], { what: say('word-key'), keyOf: (key) => key.name }, report)
    for (const key of row.keys ?? []) checkKey(key, context, report)
  }
  const keys = rows.flatMap((row) => row.keys ?? [])
  const secrets = keys.flatMap((key) => (key.secret === undefined ? [] : [key.secret]))
  reportRepeated(
    secrets,
    { what: say('word-key'), keyOf: (one) => one.value.unwrap(), detail: say('with-this-secret') },
    report,
  )
}

function checkKey(key: KeyRow, { names, keyPrefix }: AccountContext, report: Report): void {
  if (key.group) requireKnown(key.group, say('word-group'), names.groups, report)
  for (const model of key.models ?? []) requireKnown(model, say('word-model'), names.models, report)
  if (key.secret !== undefined && !isKeySecret(key.secret.value.unwrap(), keyPrefix)) {
    report(key.secret.place, keySecretRule(keyPrefix))
  }
}

/** The service's prefix, then base64url characters (docs/reference/contract.md#2.6). */
export function isKeySecret(text: string, keyPrefix: string): boolean {
  return text.startsWith(keyPrefix) && /^[A-Za-z0-9_-]+$/.test(text.slice(keyPrefix.length))
}

export function keySecretRule(keyPrefix: string): Sentence {
  return say('must-begin-with-prefix', { prefix: keyPrefix })
}

function requireKnown(name: Named<string>, what: Sentence, known: ReadonlySet<string>, report: Report): void {
  if (!known.has(name.name)) reportUnknown(name, what, known, report)
}

function reportUnknown(
  { name, place }: Named<string>,
  what: Sentence,
  known: Iterable<string>,
  report: Report,
): void {
  const nearest = nearestName(name, [...known])
  report(place, withNearest(say('refers-to-unknown', { what, name }), nearest))
}

function reportMissing(row: Place, field: string, report: Report, why?: Sentence): void {
  const path = row.path === '' ? field : `${row.path}.${field}`
  report({ ...row, path }, why === undefined ? say('missing') : say('missing-because', { why }))
}

/** How rows are distinguished, and how duplicates are reported. */
interface Distinct<Row> {
  readonly what: Sentence
  /** undefined: this row cannot be a duplicate. */
  readonly keyOf: (row: Row) => string | undefined
  /** Shown instead of the key, if the key is long or secret. */
  readonly detail?: Sentence
}

function reportRepeated<Row extends { readonly place: Place }>(
  rows: readonly Row[],
  { what, keyOf, detail }: Distinct<Row>,
  report: Report,
): void {
  const lines = new Map<string, number>()
  for (const row of rows) {
    const key = keyOf(row)
    if (key === undefined) continue
    const first = lines.get(key)
    if (first === undefined) lines.set(key, row.place.line)
    else
      report(
        row.place,
        say('first-in-line', { sentence: say('second-of-it', { what, key: detail ?? key }), line: first }),
      )
  }
}
