/**
 * Built-in vendors with their models and list prices: listed, and added to the catalogue. Existing rows of the
 * catalogue are not changed.
 */
import { say, type Sentence } from '../../core/sentences/say.ts'
import type { Catalogue, ChainProtocol, DecimalText, Feature } from '../../core/catalogue.ts'
import { rateOf } from '../../core/pricing/currency.ts'
import type { Secret } from '../../core/secret.ts'
import type { CatalogueChange } from '../../storage/stores/records.ts'
import type { Storage } from '../../storage/storage.ts'
import type { FieldMistake } from '../keys/keys.ts'
import { type Actor, done, type Done } from './acts.ts'

export interface VendorPreset {
  /** Vendor code in the catalogue. */
  readonly code: string
  readonly kind: string
  readonly name: string
  /** The environment variable that holds its key; undefined: it needs none. */
  readonly variable: string | undefined
  /** Whether this process has the key, or none is needed. */
  readonly hasKey: boolean
  readonly models: readonly PresetModel[]
  /** Vendor, credential, models and chains, in the order of writing; without `key`, the environment's is used. */
  changes(key: Secret | undefined): readonly CatalogueChange[]
}

export interface PresetModel {
  readonly modelId: string
  readonly name: string
  readonly features: readonly Feature[]
  readonly contextTokens: number | undefined
  readonly maxOutputTokens: number | undefined
  readonly forwardModelId: string
  readonly protocols: readonly ChainProtocol[]
  readonly price: PresetPrice
}

/**
 * The vendor's published price, in its currency: per million tokens, for each second of video, for each call, each
 * image, or each second of sound.
 */
export interface PresetPrice {
  readonly currency: string
  readonly input?: DecimalText
  readonly output?: DecimalText
  readonly cachedInput?: DecimalText
  readonly cacheWrite?: DecimalText
  readonly cacheWrite1h?: DecimalText
  readonly perVideoSecond?: DecimalText
  readonly perRequest?: DecimalText
  readonly perImage?: DecimalText
  readonly perMillionCharacters?: DecimalText
  readonly perAudioSecond?: DecimalText
  /** Where it was read, and when (YYYY-MM-DD). */
  readonly source: string
  readonly date: string
  readonly confidence: string
  readonly note?: string
}

/** The form shown by the management API and the command line. */
export function viewPresetPrice(price: PresetPrice) {
  return {
    currency: price.currency,
    input: price.input ?? null,
    output: price.output ?? null,
    cached_input: price.cachedInput ?? null,
    cache_write: price.cacheWrite ?? null,
    cache_write_1h: price.cacheWrite1h ?? null,
    video_second: price.perVideoSecond ?? null,
    request: price.perRequest ?? null,
    image: price.perImage ?? null,
    million_characters: price.perMillionCharacters ?? null,
    audio_second: price.perAudioSecond ?? null,
    source: price.source,
    date: price.date,
    confidence: price.confidence,
    note: price.note ?? null,
  }
}

export interface PresetChoice {
  /** undefined: all models of the preset. */
  readonly models: readonly string[] | undefined
  /** undefined: the environment's key. */
  readonly key: Secret | undefined
}

/** What was added, possibly nothing. */
export interface PresetAdded {
  readonly vendor: boolean
  readonly credential: boolean
  readonly models: readonly string[]
  readonly chains: number
}

/** Mistakes have paths such as `models[n]` and `key`. */
export async function addPreset(
  storage: Pick<Storage, 'catalogue' | 'audit'>,
  preset: VendorPreset,
  { choice, actor }: { readonly choice: PresetChoice; readonly actor: Actor },
): Promise<Done<PresetAdded>> {
  const catalogue = await storage.catalogue.read()
  const kept = credentialOf(preset, catalogue)
  const mistakes = [...unknownModels(preset, choice), ...keyMistakes(preset, choice, kept)]
  if (mistakes.length > 0) return { kind: 'mistakes', mistakes }
  const changes = preset
    .changes(choice.key)
    .filter((change) => isChosen(change, choice) && isNew(change, catalogue))
    .map((change) =>
      change.kind === 'put-chain' && kept !== undefined ? { ...change, credentialName: kept } : change,
    )
  const message = unpriced(preset, changes, catalogue)
  if (message !== undefined) return { kind: 'conflict', message }
  if (changes.length > 0) await write(storage, preset, { changes, actor })
  return done(summaryOf(changes))
}

/** Whether the vendor is in the catalogue, and which models of the preset it already has. */
export function presentOf(
  { code, models }: VendorPreset,
  catalogue: Catalogue,
): { readonly vendor: boolean; readonly models: ReadonlySet<string> } {
  const there = models.filter(({ modelId }) =>
    [...catalogue.models.values()].some(
      (model) => model.modelId === modelId && model.chains.some(({ vendorCode }) => vendorCode === code),
    ),
  )
  return {
    vendor: [...catalogue.vendors.keys()].some((known) => known === code),
    models: new Set(there.map(({ modelId }) => modelId)),
  }
}

function unknownModels({ models, name }: VendorPreset, choice: PresetChoice): readonly FieldMistake[] {
  return (choice.models ?? []).flatMap((id, index) =>
    models.some(({ modelId }) => modelId === id)
      ? []
      : [{ path: `models[${index}]`, message: say('not-of-preset', { name, id }) }],
  )
}

function keyMistakes(
  { code, name, variable, hasKey }: VendorPreset,
  { key }: PresetChoice,
  kept: string | undefined,
): readonly FieldMistake[] {
  if (key !== undefined && kept !== undefined)
    return [{ path: 'key', message: say('vendor-has-credential', { code, kept }) }]
  if (key !== undefined && variable === undefined)
    return [{ path: 'key', message: say('vendor-needs-no-key', { name }) }]
  if (key !== undefined || kept !== undefined || hasKey) return []
  return [
    {
      path: 'key',
      message: say('vendor-key-missing', { name, variable: variable ?? '' }),
    },
  ]
}

/** Why the model cannot be charged for; undefined: it can. */
function unpriced(
  { name }: VendorPreset,
  changes: readonly CatalogueChange[],
  { settings }: Catalogue,
): Sentence | undefined {
  for (const change of changes) {
    if (change.kind !== 'put-model') continue
    const { currency } = change.model.pricing
    if (rateOf(settings, currency) === undefined) return say('preset-without-rate', { name, currency })
  }
  return undefined
}

function credentialOf({ code }: VendorPreset, { credentials }: Catalogue): string | undefined {
  return [...credentials.values()].find(({ vendorCode }) => vendorCode === code)?.name
}

function isChosen(change: CatalogueChange, { models }: PresetChoice): boolean {
  if (models === undefined) return true
  if (change.kind === 'put-model') return models.includes(change.model.modelId)
  return change.kind !== 'put-chain' || models.includes(change.chain.modelId)
}

/** For the four kinds of rows in a preset. */
function isNew(change: CatalogueChange, { vendors, credentials, models }: Catalogue): boolean {
  if (change.kind === 'put-vendor') return !vendors.has(change.vendor.code)
  if (change.kind === 'put-credential')
    return ![...credentials.values()].some(({ vendorCode }) => vendorCode === change.vendorCode)
  if (change.kind === 'put-model') return !models.has(change.model.modelId)
  if (change.kind !== 'put-chain') return false
  const { modelId, vendorCode, protocol } = change.chain
  const known = models.get(modelId)?.chains ?? []
  return !known.some((chain) => chain.vendorCode === vendorCode && chain.protocol === protocol)
}

async function write(
  storage: Pick<Storage, 'audit'>,
  { code }: VendorPreset,
  { changes, actor }: { readonly changes: readonly CatalogueChange[]; readonly actor: Actor },
): Promise<void> {
  await storage.audit.act(async (stores) => {
    await stores.catalogue.apply(changes)
    const told = changes.map((change) => ({ field: nameOf(change), from: null, to: 'create' }))
    return {
      value: undefined,
      act: { at: actor.at, actor, action: 'vendor.add-preset', subject: code, changes: told },
    }
  })
}

function summaryOf(changes: readonly CatalogueChange[]): PresetAdded {
  const has = (kind: CatalogueChange['kind']) => changes.some((change) => change.kind === kind)
  return {
    vendor: has('put-vendor'),
    credential: has('put-credential'),
    models: changes.flatMap((change) => (change.kind === 'put-model' ? [change.model.modelId] : [])),
    chains: changes.filter(({ kind }) => kind === 'put-chain').length,
  }
}

/** Without secrets. */
function nameOf(change: CatalogueChange): string {
  if (change.kind === 'put-vendor') return `vendor ${change.vendor.code}`
  if (change.kind === 'put-credential') return `credential ${change.vendorCode} / ${change.name}`
  if (change.kind === 'put-model') return `model ${change.model.modelId}`
  if (change.kind !== 'put-chain') return change.kind
  const { modelId, vendorCode, protocol } = change.chain
  return `chain ${modelId} / ${vendorCode} ${protocol}`
}
