/**
 * What would happen to a call, without making it: the same stages make their decisions but change nothing. Nothing is
 * sent, reserved or written.
 */
import { createMonthOf } from '../../core/calendar.ts'
import type { Demand, Funding, ReserveOutcome } from '../../core/ledger/operations.ts'
import type { MediaSource } from '../../core/canonical/request.ts'
import type { Chain, Model, WireId } from '../../core/catalogue.ts'
import { explainedMessage, GatewayError } from '../../core/errors/gateway-error.ts'
import { callId, modelId } from '../../core/ids.ts'
import { isJsonObject } from '../../core/json.ts'
import { ZERO } from '../../core/money.ts'
import { createRequestScanner } from '../../core/passthrough/requests/request-scan.ts'
import { createModelFacts } from '../instance/model-facts.ts'
import { createTermsReader } from '../../core/pricing/read-terms.ts'
import type { ErrorNote } from '../../core/routing/health.ts'
import type { Skipped } from '../../core/routing/order.ts'
import type { PassedDialect } from '../../providers/provider.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { parseJson } from '../attempt/classify.ts'
import { admit, checkBackground } from '../stages/admit.ts'
import type { AdmittedCall, ReceivedCall } from '../call.ts'
import { encodePrepared, prepareConversion } from '../lanes/convert-request.ts'
import { rewriteBody } from '../lanes/edit-body.ts'
import { refusalOf } from '../lanes/refusal.ts'
import { createConversions } from '../lanes/threads/conversions.ts'
import { kindOf, pathsOf } from '../kinds/index.ts'
import { wireOf } from '../kinds/wire.ts'
import { isConvertible, upstreamOf } from '../attempt/dialect.ts'
import type { Pipeline } from '../context.ts'
import { createChainObservations } from '../instance/chains/chain-observations.ts'
import { createHealthBoard } from '../instance/chains/health-board.ts'
import { decideDry } from '../stages/decide-dry.ts'
import { billedSeconds } from '../stages/measure-sound.ts'
import { priceLeg } from '../stages/price-leg.ts'
import { recall } from '../stages/recall.ts'
import { refusalError } from '../stages/reserve.ts'
import { checkRestrictions } from '../stages/authenticate.ts'
import { orderFor } from '../attempt/route.ts'
import { createTurnKeeper } from '../instance/turn-keeper.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { Key } from '../../storage/stores/keys.ts'
import type { Leg } from '../attempt/leg.ts'

export interface ExplainQuestion {
  readonly key: Key
  readonly account: Account
  readonly address: 'base' | 'gateway'
  /** The calling address, if the key has a list of them; undefined: not checked. */
  readonly ip: string | undefined
  readonly protocol: WireId
  /** The path that would be called, as the contract writes it; undefined: the usual one of the protocol. */
  readonly path?: string | undefined
  /** Gemini names the model in the path. */
  readonly pathModel: string | undefined
  readonly stream: boolean | undefined
  readonly body: Uint8Array
  /** Duration of the sound in its files; undefined: there is none. */
  readonly soundSeconds?: number | undefined
}

export interface Explanation {
  /** Why the call would be refused, by the first stage that would refuse it; the rest is reported as far as it is known. */
  readonly refusal: ExplainedRefusal | undefined
  readonly model: string | undefined
  readonly estimate: Demand['estimate'] | undefined
  readonly hold: ExplainedHold | undefined
  readonly rules: readonly ExplainedRule[]
  readonly routes: readonly ExplainedRoute[]
}

export interface ExplainedRefusal {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly retryAfterMs: number | undefined
}

export interface ExplainedHold {
  readonly held: bigint
  readonly userRate: string
  readonly paidBy: Funding['otherwise']
  readonly ownCredentials: readonly string[]
  readonly windows: Extract<ReserveOutcome, { kind: 'reserved' }>['windows']
}

export interface ExplainedRule {
  readonly rule: string
  readonly required: string
  readonly found: string
}

export interface ExplainedRoute {
  readonly model: string
  /** `fallback`: tried when the requested model's chains have failed. */
  readonly role: 'requested' | 'fallback'
  readonly chains: readonly ExplainedChain[]
  readonly skipped: readonly ExplainedSkip[]
}

export interface ExplainedSkip extends Skipped {
  /** The chain's last failure. */
  readonly lastError: ErrorNote | undefined
}

export interface ExplainedChain {
  readonly chain: Chain
  readonly byok: boolean
  /** Why it has this position. */
  readonly why: string
  readonly conversion: ExplainedConversion
}

export type ExplainedConversion =
  | { readonly kind: 'passthrough' }
  | {
      readonly kind: 'converted'
      readonly dropped: readonly string[]
      /** The gateway cuts the answer at these sequences itself. */
      readonly cutAt: readonly string[]
      /** Addresses that would be fetched before. */
      readonly fetched: readonly string[]
    }
  | { readonly kind: 'refused'; readonly message: string }

/** The parts of a running gateway that an explanation reads. */
export type ExplainParts = Pick<
  Pipeline,
  | 'catalogue'
  | 'storage'
  | 'health'
  | 'observations'
  | 'now'
  | 'turns'
  | 'conversions'
  | 'monthOf'
  | 'terms'
  | 'models'
  | 'instanceId'
>

/** The same without a running gateway: every chain is assumed to be healthy. */
export async function explainParts(
  storage: Storage,
  telemetry: Pick<Telemetry, 'log' | 'background'>,
  options: Pick<Pipeline, 'now' | 'instanceId'>,
): Promise<ExplainParts> {
  const catalogue = await storage.catalogue.read()
  return {
    ...options,
    storage,
    catalogue: () => catalogue,
    health: createHealthBoard(),
    observations: createChainObservations(options.now),
    turns: createTurnKeeper(storage, telemetry),
    conversions: createConversions(telemetry, { bodyLimitBytes: EXPLAINED_BYTES_MAX }),
    monthOf: createMonthOf(),
    terms: createTermsReader(),
    models: createModelFacts(),
  }
}

/** Limit for the conversation, which is read in a thread; the body itself is small. */
const EXPLAINED_BYTES_MAX = 64 * 1024 * 1024

export async function explain(parts: ExplainParts, question: ExplainQuestion): Promise<Explanation> {
  const received = receivedCall(parts, question)
  if ('status' in received) return { ...UNKNOWN, refusal: received }
  try {
    check(question, received)
    const call = admit(parts, await recall(parts, received))
    checkBackground(call)
    return await explainAdmitted(parts, call)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { ...UNKNOWN, model: received.modelId, refusal: explainRefusal(error) }
  }
}

const UNKNOWN: Explanation = {
  refusal: undefined,
  model: undefined,
  estimate: undefined,
  hold: undefined,
  rules: [],
  routes: [],
}

function check(question: ExplainQuestion, call: ReceivedCall): void {
  const { key, account, address, ip, protocol } = question
  if (key.status !== 'enabled') throw new GatewayError(key.status === 'disabled' ? 40102 : 40101)
  if (key.expiresAt !== undefined && key.expiresAt <= call.at) throw new GatewayError(40103)
  const { modelId: model } = call
  const judged = ip === undefined ? { ...key, ipAllow: [] } : key
  checkRestrictions({ key: judged, account, address, ip: ip ?? '', protocol, modelId: model }, call.catalogue)
}

async function explainAdmitted(parts: ExplainParts, call: AdmittedCall): Promise<Explanation> {
  const outcome = await decideDry(parts, call)
  const funding = outcome.kind === 'reserved' ? outcome.model : ANYONE
  const fallback = outcome.kind === 'reserved' ? outcome.fallback : undefined
  const routes = [routeOf(parts, call, { model: call.model, funding, role: 'requested' })]
  if (call.fallback !== undefined && fallback?.kind === 'funded') {
    routes.push(routeOf(parts, call, { model: call.fallback, funding: fallback, role: 'fallback' }))
  }
  const refusal =
    outcome.kind === 'refused' ? explainRefusal(refusalError(outcome.refusal, call.at)) : unroutable(routes)
  return {
    refusal,
    model: call.model.modelId,
    estimate: call.demand.estimate,
    hold: outcome.kind === 'reserved' ? holdOf(outcome) : undefined,
    rules: rulesOf(call),
    routes,
  }
}

/** Chains are shown even to an account that could not pay. */
const ANYONE: Funding = { kind: 'funded', byokVendors: [], otherwise: 'credits' }

function holdOf(outcome: Extract<ReserveOutcome, { kind: 'reserved' }>): ExplainedHold {
  return {
    held: outcome.held,
    userRate: outcome.userRate,
    paidBy: outcome.model.otherwise,
    ownCredentials: outcome.model.byokVendors,
    windows: outcome.windows,
  }
}

/** Every rule that was applied, including those that passed. */
function rulesOf({ model, key, account }: AdmittedCall): readonly ExplainedRule[] {
  const { subscription } = account
  return [
    row('verification', String(model.requiredVerification), String(account.verification)),
    row('plan', String(model.requiredPlan), String(subscription?.level ?? 0)),
    row('group of the key', key.group ?? 'none', key.group ?? 'none'),
    row('models of the key', key.models.length === 0 ? 'any' : key.models.join(', '), model.modelId),
    row(
      'covered by the subscription',
      model.subscriptionCovered ? 'yes' : 'no',
      subscription?.plan ?? 'no plan',
    ),
    row('API deduction access', 'needed to pay with Credits', account.apiDeduction ? 'on' : 'off'),
    row(
      'monthly cap',
      account.monthlyCap === ZERO ? 'none' : 'set',
      account.monthlyCap === ZERO ? 'none' : 'holds take the worst case',
    ),
  ]
}

function row(rule: string, required: string, found: string): ExplainedRule {
  return { rule, required, found }
}

interface RouteTarget {
  readonly model: Model
  readonly funding: Funding
  readonly role: ExplainedRoute['role']
}

/**
 * Used for every random draw: equal weights keep the catalogue's order, and heavier chains come before lighter ones.
 */
const MIDDLE = 0.5

function routeOf(parts: ExplainParts, call: AdmittedCall, target: RouteTarget): ExplainedRoute {
  const { model, funding, role } = target
  const order = orderFor({ now: parts.now, health: parts.health, draw: () => MIDDLE }, call, {
    model,
    funding,
  })
  return {
    model: model.modelId,
    role,
    skipped: order.skipped.map((skip) => ({ ...skip, lastError: parts.health.of(skip.chain).lastError })),
    chains: order.chains.map((chain) => {
      const byok = funding.byokVendors.includes(chain.vendorCode)
      const leg: Leg = { chain, model, byok, why: 'priority' }
      const rivals = order.chains.filter((other) => other.priority === chain.priority)
      return { chain, byok, why: reasonOf(chain, rivals), conversion: conversionOf(call, leg) }
    }),
  }
}

function reasonOf(chain: Chain, rivals: readonly Chain[]): string {
  if (rivals.length < 2) return `the only one of priority ${chain.priority}`
  const weights = rivals.reduce((sum, rival) => sum + rival.weight, 0)
  const share = weights === 0 ? 0 : Math.round((100 * chain.weight) / weights)
  return `one of ${rivals.length} of priority ${chain.priority}; by weight first in ${share}% of calls, after chains of the client's protocol and of the issuer of its history`
}

function conversionOf(call: AdmittedCall, leg: Leg): ExplainedConversion {
  const { dialect } = upstreamOf(leg, call.catalogue, call.endpoint)
  const passes = dialect.protocol === call.endpoint.protocol && call.past?.kind !== 'kept'
  if (!isConvertible(dialect)) return rewritingOf(call, leg, dialect)
  if (passes) return { kind: 'passthrough' }
  if (!isTriable(call.scan)) return TOO_LARGE
  const priced = priceLeg(call, leg, dialect)
  if (priced.kind === 'refused') return { kind: 'refused', message: priced.failure.message }
  const prepared = prepareConversion(call, priced.leg, dialect)
  if (prepared.kind === 'refused') return { kind: 'refused', message: prepared.failure.message }
  const sources = new Map(prepared.remote.map(({ url, media }) => [url, STAND_INS[media]]))
  const converted = encodePrepared(prepared, priced.leg, dialect, sources)
  if (converted.kind === 'refused') return { kind: 'refused', message: converted.failure.message }
  return {
    kind: 'converted',
    dropped: converted.dropped,
    cutAt: converted.cutAt,
    fetched: prepared.remote.map(({ url }) => url),
  }
}

function rewritingOf(call: AdmittedCall, leg: Leg, dialect: PassedDialect): ExplainedConversion {
  const { rewrite } = dialect
  if (rewrite === undefined) return { kind: 'passthrough' }
  const body = parseJson(Buffer.concat(call.body.chunks))
  if (!isTriable(call.scan) || !isJsonObject(body)) return TOO_LARGE
  // In place of a form there are its text fields, and no file.
  const refusal = refusalOf({ fields: body, files: [], soundSeconds: call.scan.soundSeconds ?? 0 }, dialect, {
    model: leg.chain.forwardModelId,
  })
  if (refusal !== undefined) return { kind: 'refused', message: refusal }
  const { dropped } = rewriteBody(body, dialect, leg.chain.forwardModelId)
  return { kind: 'converted', dropped, cutAt: [], fetched: [] }
}

function isTriable({ bodyBytes, values }: AdmittedCall['scan']): boolean {
  return bodyBytes <= TRIED_BYTES_MAX && values <= TRIED_VALUES_MAX
}

const TOO_LARGE: ExplainedConversion = {
  kind: 'refused',
  message: 'the request is too large to try its conversion here',
}

/** The conversion is tried once per chain, on the thread that serves calls. */
const TRIED_BYTES_MAX = 1_048_576
const TRIED_VALUES_MAX = 8_192

/** Placeholders for what is not fetched. */
const STAND_INS: Readonly<Record<'image' | 'audio' | 'file', MediaSource>> = {
  image: { kind: 'base64', mediaType: 'image/png', data: '' },
  audio: { kind: 'base64', mediaType: 'audio/wav', data: '' },
  file: { kind: 'base64', mediaType: 'application/pdf', data: '' },
}

function receivedCall(parts: ExplainParts, question: ExplainQuestion): ReceivedCall | ExplainedRefusal {
  const { key, account, address, protocol, body, pathModel, soundSeconds } = question
  const kind = kindOf(protocol)
  const scanner = createRequestScanner(wireOf(protocol).requests)
  scanner.push(body)
  const scan = scanner.end()
  if (scan.kind === 'refused') return explainRefusal(new GatewayError(scan.code, { message: scan.message }))
  const named = pathModel ?? scan.model
  if (named === undefined || named === '') return explainRefusal(new GatewayError(40002))
  return {
    stage: 'received',
    callId: callId('explained'),
    requestId: 'explained',
    at: parts.now(),
    endpoint: {
      path: question.path ?? pathsOf(protocol)[0] ?? '',
      protocol,
      kind,
      streamVerb: question.stream,
      pathModel,
      eventStream: true,
    },
    address,
    ip: question.ip ?? '',
    headers: {},
    keyInQuery: false,
    contentLength: body.byteLength,
    readBody: () => Promise.resolve(),
    key,
    account,
    catalogue: parts.catalogue(),
    body: {
      chunks: [body],
      length: body.byteLength,
      memo: {},
      hold: () => undefined,
      release: () => undefined,
    },
    scan: soundSeconds === undefined ? scan : { ...scan, soundSeconds: billedSeconds(soundSeconds) },
    modelId: modelId(named),
    stream: question.stream ?? scan.stream,
    user: scan.user,
  }
}

function unroutable(routes: readonly ExplainedRoute[]): ExplainedRefusal | undefined {
  return routes.some(({ chains }) => chains.length > 0) ? undefined : explainRefusal(new GatewayError(50201))
}

function explainRefusal(error: GatewayError): ExplainedRefusal {
  const { status, code, retryAfterMs } = error
  return { status, code, message: explainedMessage(error), retryAfterMs }
}
