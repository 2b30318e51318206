import {
  type Catalogue,
  type Chain,
  type Credential,
  type CredentialSecret,
  type Vendor,
  type WireId,
  isPassedForm,
  isProtocolId,
} from '../../core/catalogue.ts'
import type { Capabilities } from '../../core/protocols/protocol.ts'
import { dialectForClient, providerOf } from '../../providers/index.ts'
import type {
  Dialect,
  FormedRequest,
  Operation,
  PassedDialect,
  Provider,
  UploadForm,
  WireDialect,
} from '../../providers/provider.ts'
import { readPublicFields } from '../../upstream/credentials/auth.ts'
import type { ReservedCall } from '../call.ts'
import type { Leg } from './leg.ts'
import type { ClaimOperation, ClaimOutcome } from '../../core/ledger/operations.ts'
import type { CallId, ForwardModelId } from '../../core/ids.ts'
import type { Soon } from '../../core/soon.ts'
import type { Storage } from '../../storage/storage.ts'

/** Everything the catalogue and the provider registry know about one leg's upstream. */
export interface LegUpstream {
  readonly vendor: Vendor
  readonly provider: Provider
  readonly dialect: Dialect | PassedDialect
  readonly credential: Credential
}

/**
 * The provider of a leg, as the call's own catalogue describes it. A chain with an unknown vendor or kind is a broken
 * invariant. `called`: the client's endpoint and protocol; absent: there is no client.
 */
export function upstreamOf(
  leg: Leg,
  catalogue: ReservedCall['catalogue'],
  called?: { readonly protocol: WireId; readonly path: string },
): LegUpstream {
  const { chain } = leg
  const vendor = catalogue.vendors.get(chain.vendorCode)
  const credential = catalogue.credentials.get(chain.credentialId)
  if (vendor === undefined || credential === undefined)
    throw new Error(`chain ${chain.id} has no vendor or credential`)
  const provider = providerOf(vendor.kind)
  if (chain.protocol === 'video') throw new Error(`chain ${chain.id} makes videos and answers no other calls`)
  const dialect = provider?.dialects[chain.protocol]
  if (provider === undefined || dialect === undefined) {
    throw new Error(`chain ${chain.id}: the vendor kind ${vendor.kind} does not speak ${chain.protocol}`)
  }
  const spoken = called === undefined ? dialect : dialectForClient(dialect, called.protocol, called.path)
  return { vendor, provider, dialect: spoken, credential }
}

/** The same for a leg that speaks a protocol. */
export function protocolUpstreamOf(
  leg: Leg,
  catalogue: ReservedCall['catalogue'],
): LegUpstream & { readonly dialect: Dialect } {
  const found = upstreamOf(leg, catalogue)
  const { dialect } = found
  if (!isConvertible(dialect)) throw new Error(`chain ${leg.chain.id} speaks no protocol`)
  return { ...found, dialect }
}

/** How a file for this model is put where its vendor fetches it; undefined: files are sent with the request. */
export function uploadsOf(
  dialect: WireDialect & Pick<PassedDialect, 'uploads'>,
  model: ForwardModelId,
): UploadForm | undefined {
  return dialect.uploads?.isUploaded(model) === true ? dialect.uploads : undefined
}

/** A vendor that runs inside the operator's network keeps its files there too. Lower case; undefined: no address. */
export function trustedHostOf({ baseUrl }: { readonly baseUrl: string }): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined
  return new URL(baseUrl).hostname.replace(/^\[|\]$/g, '').toLowerCase()
}

/** Whether its requests and answers can be converted. */
export function isConvertible(dialect: Dialect | PassedDialect): dialect is Dialect {
  return !isPassedForm(dialect.protocol)
}

/** What a chain's model can do: what its vendor's folder says, overridden by what the operator says about the chain. */
export function capabilitiesOf(
  { forwardModelId, capabilities: said }: Pick<Chain, 'forwardModelId' | 'capabilities'>,
  dialect: Dialect,
): Capabilities {
  const known = dialect.capabilities(forwardModelId)
  const { sampling = known.sampling, images = known.images, stopMax = known.stopMax } = said
  const { reasoning = known.reasoning } = said
  const efforts = reasoning === known.reasoning ? known.efforts : EFFORTS_OF[reasoning]
  return { ...known, reasoning, efforts, sampling, images, stopMax }
}

/** Effort words that every model of such a kind accepts. */
const EFFORTS_OF: Readonly<Record<Capabilities['reasoning'], Capabilities['efforts']>> = {
  none: [],
  effort: ['low', 'medium', 'high'],
  adaptive: ['low', 'medium', 'high'],
  level: ['low', 'medium', 'high'],
  budget: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  toggle: ['none', 'high'],
}

/** The issuer of the signatures that a chain makes and accepts (`core/canonical/envelope.ts`). */
export function issuerOfChain(chain: Chain, { vendors }: Catalogue): string {
  const kind = vendors.get(chain.vendorCode)?.kind
  const dialects = kind === undefined ? undefined : providerOf(kind)?.dialects
  const dialect = isProtocolId(chain.protocol) ? dialects?.[chain.protocol] : undefined
  return dialect?.issuer ?? chain.vendorCode
}

/** The chain's vendor answers in the background, and its answer can be polled until it is charged. */
export function answersInBackground({ vendorCode, protocol }: Chain, { vendors }: Catalogue): boolean {
  const kind = vendors.get(vendorCode)?.kind
  if (kind === undefined || protocol !== 'responses') return false
  return providerOf(kind)?.dialects.responses?.background === true
}

/**
 * The upstream account that a leg uses, as a name for the store: what is kept there is not available to other accounts.
 */
export function upstreamAccountOf({ chain, byok }: Pick<Leg, 'chain' | 'byok'>): string {
  return byok ? `${OWN}${chain.vendorCode}` : `credential:${chain.credentialId}`
}

/** Every upstream account that a chain may use, of the platform or of a customer. */
export function upstreamAccountsOf(chain: Chain): readonly string[] {
  return [upstreamAccountOf({ chain, byok: false }), upstreamAccountOf({ chain, byok: true })]
}

/** The place belongs to the calling account's own credential. */
export function isOwnPlace(place: string): boolean {
  return place.startsWith(OWN)
}

const OWN = 'own:'

/** The request for one operation; undefined: the upstream has no address or no such operation. */
export function formRequest(
  { vendor, provider, dialect }: Omit<LegUpstream, 'dialect'> & { readonly dialect: WireDialect },
  wanted: {
    readonly chain: Chain
    readonly secret: CredentialSecret
    readonly operation: Operation
    readonly calledPath?: string
  },
): FormedRequest | undefined {
  const baseUrl = vendor.baseUrl ?? provider.defaultBaseUrl
  if (baseUrl === undefined || !takesPath(dialect, wanted.calledPath)) return undefined
  return dialect.form({
    baseUrl: baseUrl.replace(/\/+$/, ''),
    forwardModelId: wanted.chain.forwardModelId,
    operation: wanted.operation,
    ...(wanted.calledPath === undefined ? {} : { calledPath: wanted.calledPath }),
    fields: readPublicFields(wanted.secret, provider.publicFields),
  })
}

/**
 * Whether the vendor offers the path that the client called, where a form has several. `called` absent: there is no
 * client.
 */
export function takesPath({ paths }: Pick<WireDialect, 'paths'>, called: string | undefined): boolean {
  return called === undefined || paths === undefined || paths.includes(called)
}

interface ClaimParts {
  readonly now: () => number
  readonly storage: Pick<Storage, 'calls'>
}

/** A call of any kind that takes a place on the credential of a chain (docs/reference/contract.md#D-admission-22). */
interface Claimant {
  readonly callId: CallId
  readonly catalogue: Catalogue
}

/**
 * Takes a place, which the call holds until it ends or gives it back; unlimited credentials and the account's own cost
 * nothing. Claiming the same credential again takes nothing more.
 */
export function claimCredential(
  { now, storage }: ClaimParts,
  call: Claimant,
  { leg, counts }: { readonly leg: Leg; readonly counts: ClaimOperation['counts'] },
): Soon<ClaimOutcome> {
  const credential = limitedCredential(call, leg)
  if (credential === undefined) return CLAIMED
  return storage.calls.claim({
    callId: call.callId,
    at: now(),
    credentialId: credential.id,
    policy: credential.limits,
    counts,
  })
}

const CLAIMED: ClaimOutcome = { kind: 'claimed' }

/** The call continues over another chain, and would otherwise hold the place until it ends. */
export async function giveCredentialBack(
  { storage }: Pick<ClaimParts, 'storage'>,
  call: Claimant,
  leg: Leg,
): Promise<void> {
  const credential = limitedCredential(call, leg)
  if (credential === undefined) return
  await storage.calls.unclaim({ callId: call.callId, credentialId: credential.id })
}

function limitedCredential({ catalogue }: Claimant, leg: Leg): Credential | undefined {
  const credential = leg.byok ? undefined : catalogue.credentials.get(leg.chain.credentialId)
  if (credential === undefined) return undefined
  const { concurrency, windows } = credential.limits
  return concurrency === undefined && windows.length === 0 ? undefined : credential
}
