/**
 * A client's request on its way to an upstream of another protocol: decoded once per call, encoded per chain
 * (docs/reference/contract.md#1-11).
 */
import {
  inlineMedia,
  listRemoteMedia,
  type NeedsInline,
  type RemoteMedia,
} from '../../core/canonical/media/remote-media.ts'
import type { CanonicalRequest, MediaPart, MediaSource } from '../../core/canonical/request.ts'
import { withoutSignatures } from '../../core/canonical/signatures.ts'
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { isForced } from '../../core/protocols/chain-limits.ts'
import { clientPath, clientPaths } from '../../core/protocols/client-fields.ts'
import { formatDropped } from '../../core/protocols/dropped-fields.ts'
import { codecOf, keepsAnswers, protocolOf } from '../../core/protocols/index.ts'
import { unsupported } from '../../core/protocols/refusal.ts'
import type { Capabilities, Decoded, Encoded, Protocol, Refused } from '../../core/protocols/protocol.ts'
import { continuedBody, inputItems } from '../../core/protocols/responses/answer/stored-turn.ts'
import type { Dialect } from '../../providers/provider.ts'
import type { Past, ReceivedBody, ReceivedCall } from '../call.ts'
import { parseJson } from '../attempt/classify.ts'
import { capabilitiesOf } from '../attempt/dialect.ts'
import type { Leg } from '../attempt/leg.ts'
import type { FinalFailure } from '../attempt/attempt-outcome.ts'

/** The part of a call that its conversion reads. */
export interface ConvertibleCall {
  readonly endpoint: Pick<ReceivedCall['endpoint'], 'protocol'>
  readonly body: Pick<ReceivedBody, 'chunks' | 'memo'>
  readonly past?: ReceivedCall['past']
  readonly scan: Pick<ReceivedCall['scan'], 'previousResponseId'>
  readonly stream: boolean
}

/** The part of a leg that a conversion reads. */
export interface ConvertibleLeg {
  readonly chain: Leg['chain']
  readonly model: Pick<Leg['model'], 'maxOutputTokens'>
  readonly unsigned?: true
  /** Canonical names of hosted tools that would cost extra and have no price: the chain is treated as if it lacked them. */
  readonly unpricedTools?: readonly string[]
}

/**
 * A request in the canonical form, adapted to one chain's dialect, and what has to be fetched before it can be encoded.
 */
export interface PreparedRequest {
  readonly kind: 'prepared'
  readonly client: Protocol
  /** The client's request; answers echo it. */
  readonly asked: CanonicalRequest
  readonly request: CanonicalRequest
  readonly issuer: string
  readonly needsInline: NeedsInline
  readonly remote: readonly RemoteMedia[]
  /** JSON paths that the canonical form cannot represent. */
  readonly dropped: readonly string[]
}

export interface RefusedRequest {
  readonly kind: 'refused'
  readonly failure: Extract<FinalFailure, { kind: 'unconvertible' }>
}

export interface ConvertedRequest {
  readonly kind: 'converted'
  readonly body: JsonObject
  /** In the client's own paths, encoded for a header. */
  readonly dropped: readonly string[]
  /** Stop sequences the upstream cannot take. */
  readonly cutAt: readonly string[]
  /** The extras in `body` that vendors charge for. */
  readonly sentExtras: readonly string[]
}

export function prepareConversion(
  call: ConvertibleCall,
  leg: ConvertibleLeg,
  dialect: Dialect,
): PreparedRequest | RefusedRequest {
  const client = codecOf(call.endpoint.protocol)
  const decoded = decodeOnce(client, call)
  if (decoded.kind === 'refused') return unconvertible(client, decoded)
  const forced = findForcedUnpriced(decoded.value, leg.unpricedTools ?? []) ?? findForced(leg, decoded.value)
  if (forced !== undefined) return unconvertible(client, forced)
  const wanted = wantedOf(call, leg, decoded.value)
  const request = dialect.adapt?.(wanted) ?? wanted
  const capabilities = narrowedCapabilities(leg, dialect)
  const needsInline = (part: MediaPart): boolean =>
    protocolOf(dialect.protocol).needsInline(part, capabilities)
  return {
    kind: 'prepared',
    client,
    asked: decoded.value,
    request,
    issuer: dialect.issuer ?? leg.chain.vendorCode,
    needsInline,
    remote: listRemoteMedia(request, needsInline),
    dropped: lacksTools(leg, decoded.value) ? [...decoded.dropped, 'tools'] : decoded.dropped,
  }
}

export function encodePrepared(
  prepared: PreparedRequest,
  leg: ConvertibleLeg,
  dialect: Dialect,
  sources: ReadonlyMap<string, MediaSource>,
): ConvertedRequest | RefusedRequest {
  const { client, request, issuer, needsInline, remote } = prepared
  const whole = remote.length === 0 ? request : inlineMedia(request, needsInline, sources)
  const encoded = protocolOf(dialect.protocol).encodeRequest(whole, {
    forwardModelId: leg.chain.forwardModelId,
    maxOutputTokens: leg.model.maxOutputTokens,
    capabilities: narrowedCapabilities(leg, dialect),
    issuer,
  })
  if (encoded.kind === 'refused') return unconvertible(client, encoded)
  const dropped = [...prepared.dropped, ...reallyDropped(encoded), ...leftOut(leg)]
  return {
    kind: 'converted',
    body: encoded.body,
    dropped: formatDropped(clientPaths(client.id, dropped)),
    cutAt: encoded.cutAt ?? [],
    sentExtras: sentExtras(whole, encoded.dropped),
  }
}

/** Only the tier of the fields that cost extra survives a conversion, and only the tools that were not dropped. */
function sentExtras({ serviceTier, tools }: CanonicalRequest, dropped: readonly string[]): readonly string[] {
  const left = new Set(dropped)
  const tier = serviceTier === undefined || left.has('serviceTier') ? [] : [`service_tier.${serviceTier}`]
  const hosted = tools.flatMap((tool, index) =>
    tool.type === 'hosted' && !left.has(`tools[${index}]`) ? [tool.name.replaceAll('-', '_')] : [],
  )
  return [...tier, ...hosted]
}

/** The chain's capabilities, without the tools that have no price. */
function narrowedCapabilities({ chain, unpricedTools = [] }: ConvertibleLeg, dialect: Dialect): Capabilities {
  const capabilities = capabilitiesOf(chain, dialect)
  if (unpricedTools.length === 0) return capabilities
  const hostedTools = capabilities.hostedTools.filter((name) => !unpricedTools.includes(name))
  return { ...capabilities, hostedTools }
}

/** An offered tool can be dropped; a demanded one cannot without changing the answer. */
function findForcedUnpriced(
  { tools, toolChoice }: CanonicalRequest,
  unpriced: readonly string[],
): Refused | undefined {
  if (toolChoice === undefined || unpriced.length === 0) return undefined
  const leftOut = tools.flatMap((tool) =>
    tool.type === 'hosted' && unpriced.includes(tool.name) ? [tool] : [],
  )
  const forced = leftOut.find((tool) => {
    switch (toolChoice.kind) {
      case 'auto':
        return toolChoice.hosted === tool.name
      case 'tool':
        return tool.json.name === toolChoice.name
      case 'required':
        return leftOut.length === tools.length
      case 'allowed':
        return toolChoice.mode === 'required' && toolChoice.names.length === 0
      case 'none':
        return false
    }
  })
  if (forced === undefined) return undefined
  const name = forced.name.replaceAll('-', '_')
  return {
    kind: 'refused',
    field: 'toolChoice',
    message: `${name} costs extra at this model's vendor and has no price here: do not demand it in tool_choice`,
    details: { param: 'tool_choice', reason: 'field_without_price' },
  }
}

/** Tools are offered to a model that, according to the catalogue, calls none. */
function lacksTools({ chain }: ConvertibleLeg, { tools }: CanonicalRequest): boolean {
  return chain.capabilities.tools === false && tools.length > 0
}

/** Offered tools can be dropped; an answer without a required call would be a different one. */
function findForced(leg: ConvertibleLeg, request: CanonicalRequest): Refused | undefined {
  const { toolChoice } = request
  if (!lacksTools(leg, request) || toolChoice === undefined || !isForced(toolChoice)) return undefined
  return unsupported('toolChoice', 'this model does not call tools')
}

/** What is sent upstream: responses are stored and continued here, not there. */
function wantedOf(call: ConvertibleCall, leg: ConvertibleLeg, asked: CanonicalRequest): CanonicalRequest {
  const state = keepsAnswers(call.endpoint.protocol) ? NO_STATE : asked.state
  const offered = lacksTools(leg, asked) ? NO_TOOLS : {}
  const wanted = { ...asked, ...offered, stream: call.stream, state }
  return leg.unsigned === true ? withoutSignatures(wanted) : wanted
}

const NO_TOOLS = { tools: [], toolChoice: undefined, parallelToolCalls: undefined }
const NO_STATE = { store: undefined, previousResponseId: undefined }

/** A call's body is decoded once for all attempts. */
function decodeOnce(client: Protocol, call: ConvertibleCall): Decoded<CanonicalRequest> {
  const { memo } = call.body
  if (memo.decoded !== undefined) return memo.decoded.decoded
  const body = parseJson(Buffer.concat(call.body.chunks))
  const decoded: Decoded<CanonicalRequest> = isJsonObject(body)
    ? decodeBody(client, call, body)
    : { kind: 'refused', field: '', message: 'the request body must be a JSON object' }
  const input = client.keepsAnswers && isJsonObject(body) ? inputItems(body['input']) : []
  memo.decoded = { decoded, input }
  return decoded
}

/** A conversation kept here is put before what the client sends; the answer still names the response it continues. */
function decodeBody(client: Protocol, call: ConvertibleCall, body: JsonObject): Decoded<CanonicalRequest> {
  if (call.past?.kind !== 'kept') return client.decodeRequest(body)
  const decoded = client.decodeRequest(continuedBody(body, pastItems(call.past)))
  if (decoded.kind === 'refused') return decoded
  const state = { ...decoded.value.state, previousResponseId: call.scan.previousResponseId }
  return { ...decoded, value: { ...decoded.value, state } }
}

/** The items of the continued conversation; parsed once. */
export function pastItems(
  past: Pick<Extract<Past, { kind: 'kept' }>, 'bytes' | 'items'>,
): readonly JsonValue[] {
  if (past.items !== undefined) return past.items
  const items = parseJson(past.bytes)
  if (!isJsonArray(items)) throw new Error('a kept conversation cannot be read')
  past.items = items
  return items
}

/** The client's input of a converted responses call, as items or as the JSON text of their array. */
export function clientInput({ body }: Pick<ConvertibleCall, 'body'>): readonly JsonValue[] | string {
  return body.memo.writtenInput ?? body.memo.decoded?.input ?? []
}

/** The answer says that it is not stored, whatever the reason. */
export function unkept(request: CanonicalRequest): CanonicalRequest {
  return { ...request, state: { ...request.state, store: false } }
}

/** The refusal names the field as the client wrote it. */
function unconvertible(client: Protocol, refused: Refused): RefusedRequest {
  const field = clientPath(client.id, refused.field)
  const message =
    field === '' || refused.message.includes(field) ? refused.message : `${field}: ${refused.message}`
  return { kind: 'refused', failure: { kind: 'unconvertible', message, details: refused.details } }
}

/** `stop` does not count as dropped if the gateway itself cuts the answer. */
function reallyDropped(encoded: Encoded): readonly string[] {
  return encoded.cutAt === undefined ? encoded.dropped : encoded.dropped.filter((field) => field !== 'stop')
}

function leftOut(leg: ConvertibleLeg): readonly string[] {
  return leg.unsigned === true ? ['reasoningHistory'] : []
}
