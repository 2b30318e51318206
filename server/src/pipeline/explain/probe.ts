/**
 * One real, cheap call over a chain, outside of any account: tests whether the credential works and the model exists.
 */
import { plainRequest } from '../../core/canonical/plain-request.ts'
import type { CanonicalRequest } from '../../core/canonical/request.ts'
import type { Chain, CredentialSecret, Model } from '../../core/catalogue.ts'
import { protocolOf } from '../../core/protocols/index.ts'
import type { UploadForm } from '../../providers/provider.ts'
import type { TransportFailure, UpstreamSink } from '../../upstream/upstream.ts'
import { parseJson } from '../attempt/classify.ts'
import {
  capabilitiesOf,
  formRequest,
  isConvertible,
  type LegUpstream,
  uploadsOf,
  upstreamOf,
} from '../attempt/dialect.ts'
import type { Pipeline } from '../context.ts'
import type { PassedForm } from '../kinds/kind.ts'
import { passedForm, wireOf } from '../kinds/wire.ts'
import { editBody, rewriteBody } from '../lanes/edit-body.ts'

export type Probe =
  | { readonly kind: 'answered'; readonly status: number; readonly durationMs: number }
  /** The upstream's own message, shortened; never what was sent. */
  | {
      readonly kind: 'refused'
      readonly status: number
      /** The class of the refusal: `credential`, `not-found`, `rate-limited`, … */
      readonly class: string
      readonly message: string
      readonly durationMs: number
    }
  | { readonly kind: 'unreachable'; readonly detail: string; readonly durationMs: number }
  /** There is no cheap test: a video costs its full price. */
  | { readonly kind: 'not-testable'; readonly why: string }

/** Far more than an answer of a few tokens or an error takes. */
const ANSWER_BYTES_MAX = 65_536
const MESSAGE_CHARACTERS_MAX = 1_000
/** The minimum that reasoning models accept. */
const OUTPUT_TOKENS = 16

/** `secret`: another credential than the chain's own, tried before it is stored. */
export interface ProbeTarget {
  readonly chain: Chain
  readonly model: Model
  /** Used in place of the chain's own credential. */
  readonly secret?: CredentialSecret
}

export async function probeChain(
  pipeline: Pick<Pipeline, 'catalogue' | 'upstream' | 'now'>,
  target: ProbeTarget,
): Promise<Probe> {
  const { chain, model } = target
  if (chain.protocol === 'video')
    return { kind: 'not-testable', why: 'a video chain has no cheap call: every task is billed' }
  const found = upstreamOf({ chain, model, byok: false, why: 'priority' }, pipeline.catalogue())
  const secret = target.secret ?? found.credential.secret
  const formed = formRequest(found, { chain, secret, operation: 'generate' })
  if (formed === undefined)
    return { kind: 'not-testable', why: 'the vendor has no address: set its base_url or the fields it needs' }
  const uploads = uploadsOf(found.dialect, chain.forwardModelId)
  if (uploads !== undefined) return probePlace(pipeline, { found, secret, uploads, target })
  const body = bodyFor(found.dialect, target)
  const type = typeOf(found.dialect)
  if (body === undefined)
    return { kind: 'not-testable', why: `this vendor has no test call over ${chain.protocol}` }
  const startedAt = pipeline.now()
  if (found.dialect.respond !== undefined) {
    const { status } = found.dialect.respond({
      operation: 'generate',
      forwardModelId: chain.forwardModelId,
      body: [body],
      id: `probe_${chain.id}`,
      at: startedAt,
    })
    return { kind: 'answered', status, durationMs: pipeline.now() - startedAt }
  }
  const reply = await send(pipeline, {
    request:
      type === undefined ? formed : { ...formed, headers: { ...formed.headers, 'content-type': type } },
    auth: found.dialect.auth,
    credential: secret,
    body: [body],
    bodyLength: body.byteLength,
    timeouts: found.vendor.timeouts,
  })
  return probeOf(found, reply, pipeline.now() - startedAt)
}

/** For a model of files: whether there is a place for one, which costs nothing. */
async function probePlace(
  pipeline: Pick<Pipeline, 'upstream' | 'now'>,
  asked: {
    readonly found: LegUpstream
    readonly secret: CredentialSecret
    readonly uploads: UploadForm
    readonly target: ProbeTarget
  },
): Promise<Probe> {
  const { found, secret, uploads, target } = asked
  const { vendor, provider, dialect } = found
  const baseUrl = vendor.baseUrl ?? provider.defaultBaseUrl ?? ''
  const startedAt = pipeline.now()
  const reply = await send(pipeline, {
    request: { method: 'GET', ...uploads.ask({ baseUrl, forwardModelId: target.chain.forwardModelId }) },
    auth: dialect.auth,
    credential: secret,
    body: undefined,
    bodyLength: 0,
    timeouts: vendor.timeouts,
  })
  return probeOf(found, reply, pipeline.now() - startedAt)
}

function probeOf(found: LegUpstream, reply: Reply, durationMs: number): Probe {
  if (reply.kind === 'failed') return { kind: 'unreachable', detail: reply.failure.detail, durationMs }
  if (reply.status >= 200 && reply.status < 300) return { kind: 'answered', status: reply.status, durationMs }
  const json = parseJson(reply.body)
  const error = wireOf(found.dialect.protocol).decodeError(reply.status, json ?? null)
  return {
    kind: 'refused',
    status: reply.status,
    class: found.dialect.classify({ status: reply.status, headers: reply.headers, body: json }).kind,
    message: error.message.slice(0, MESSAGE_CHARACTERS_MAX),
    durationMs,
  }
}

/** A greeting in the upstream's own protocol, or the smallest request of a form that is passed on. */
function bodyFor(
  dialect: LegUpstream['dialect'],
  { chain, model }: { readonly chain: Chain; readonly model: Model },
): Uint8Array | undefined {
  if (!isConvertible(dialect)) {
    const { smallest, smallestFile: file } = passedForm(dialect.protocol)
    if (file !== undefined && isSentAsForm(dialect)) return formOf(chain.forwardModelId, file)
    const sent = file && {
      files: [{ name: file.field, size: file.content.length, bytes: () => file.content }],
      soundSeconds: 1,
    }
    const body = { model: chain.forwardModelId, ...smallest }
    return Buffer.from(JSON.stringify(rewriteBody(body, dialect, chain.forwardModelId, sent).body))
  }
  const request = dialect.adapt?.(GREETING) ?? GREETING
  const encoded = protocolOf(dialect.protocol).encodeRequest(request, {
    forwardModelId: chain.forwardModelId,
    maxOutputTokens: model.maxOutputTokens,
    capabilities: capabilitiesOf(chain, dialect),
    issuer: dialect.issuer ?? chain.vendorCode,
  })
  if (encoded.kind === 'refused') return undefined
  return Buffer.from(JSON.stringify(editBody(encoded.body, dialect)))
}

const BOUNDARY = 'sluice-test-call'

/** undefined: JSON. */
function typeOf(dialect: LegUpstream['dialect']): string | undefined {
  return isSentAsForm(dialect) ? `multipart/form-data; boundary=${BOUNDARY}` : undefined
}

function isSentAsForm(dialect: LegUpstream['dialect']): boolean {
  if (isConvertible(dialect) || dialect.rewrite !== undefined) return false
  return passedForm(dialect.protocol).smallestFile !== undefined
}

function formOf(
  model: string,
  { field, name, content }: NonNullable<PassedForm['smallestFile']>,
): Uint8Array {
  return Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`),
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
    ),
    content,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ])
}

const GREETING: CanonicalRequest = { ...plainRequest('Say OK.'), maxOutputTokens: OUTPUT_TOKENS }

type Reply =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly headers: Readonly<Record<string, string | string[]>>
      readonly body: Uint8Array
    }
  | { readonly kind: 'failed'; readonly failure: TransportFailure }

function send(
  pipeline: Pick<Pipeline, 'upstream'>,
  call: Parameters<Pipeline['upstream']['open']>[0],
): Promise<Reply> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let length = 0
    let status = 0
    let headers: Readonly<Record<string, string | string[]>> = {}
    const answered = (): void => resolve({ kind: 'answered', status, headers, body: Buffer.concat(chunks) })
    const sink: UpstreamSink = {
      head(head) {
        status = head.status
        headers = head.headers
      },
      data(chunk) {
        length += chunk.byteLength
        if (length <= ANSWER_BYTES_MAX) chunks.push(chunk)
        // What arrived so far is enough.
        else {
          answered()
          exchange.abort()
        }
      },
      end: answered,
      fail: (failure) => resolve({ kind: 'failed', failure }),
    }
    const exchange = pipeline.upstream.open(call, sink)
  })
}
