/** A vendor's responses API as a task dialect: create, read and cancel by id. */
import type { CredentialSecret } from '../../core/catalogue.ts'
import type { HttpRequest } from '../../core/http-request.ts'
import type { ForwardModelId } from '../../core/ids.ts'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { providerOf } from '../../providers/index.ts'
import type { Dialect, FormedRequest } from '../../providers/provider.ts'
import type { VideoReply } from '../../providers/video.ts'
import { readPublicFields } from '../../upstream/credentials/auth.ts'
import type { Pipeline } from '../context.ts'
import type { FoundTaskVendor, TaskDialect, TaskStep, TaskVendor } from '../video/task/task-dialect.ts'
import { secretOf, type VendorQuestion } from '../video/task/video-vendor.ts'
import { answerOffline } from './offline-response.ts'
import { isRunning, readResponse } from './response-object.ts'

/** Clients poll about as often. */
const POLL_AFTER_MS = 2_000

/** From the present catalogue: a task may outlive the catalogue it was created with. */
export async function findResponseVendor(
  pipeline: Pick<Pipeline, 'catalogue' | 'directory'>,
  question: VendorQuestion & { readonly forwardModelId: ForwardModelId | undefined },
): Promise<FoundTaskVendor> {
  const vendor = pipeline.catalogue().vendors.get(question.vendorCode)
  const provider = vendor === undefined ? undefined : providerOf(vendor.kind)
  const dialect = provider?.dialects.responses
  if (vendor === undefined || provider === undefined || dialect === undefined)
    return { kind: 'missing', reason: 'the vendor does not speak responses' }
  const secret = await secretOf(pipeline, question)
  if (secret === undefined)
    return { kind: 'missing', reason: question.byok ? 'own credential removed' : 'no credential' }
  const baseUrl = vendor.baseUrl ?? provider.defaultBaseUrl
  const { forwardModelId } = question
  if (baseUrl === undefined || forwardModelId === undefined) return { kind: 'missing', reason: 'no address' }
  const fields = readPublicFields(secret, provider.publicFields)
  const bare = baseUrl.replace(/\/+$/, '')
  const formed = dialect.form({ baseUrl: bare, forwardModelId, operation: 'generate', fields })
  if (formed === undefined) return { kind: 'missing', reason: 'no address' }
  return { kind: 'found', vendor, secret, baseUrl: bare, fields, dialect: responseDialect(dialect, formed) }
}

/** The same for a chain that is about to be called. */
export function responseVendor(found: {
  readonly vendor: TaskVendor['vendor']
  readonly dialect: Dialect
  readonly secret: CredentialSecret
  readonly formed: FormedRequest
}): TaskVendor {
  const { vendor, dialect, secret, formed } = found
  return { vendor, secret, baseUrl: '', fields: {}, dialect: responseDialect(dialect, formed) }
}

/** Cancels the response of this task upstream. */
export function cancelRequest(next: HttpRequest): HttpRequest {
  const address = new URL(next.url)
  address.pathname += '/cancel'
  return { ...next, method: 'POST', url: address.href }
}

function responseDialect(dialect: Dialect, formed: FormedRequest): TaskDialect {
  const read = (reply: VideoReply, state: JsonObject): TaskStep => {
    const found = readResponse(reply.body)
    const known = state['id']
    if (found === undefined) return { kind: 'unreadable', detail: 'the provider sent no response object' }
    const { id, status, response } = found
    if (known !== undefined && known !== id)
      return { kind: 'unreadable', detail: 'the provider sent another response' }
    const next: JsonObject = { ...state, id }
    if (!isRunning(status)) return { kind: 'answered', response, bytes: reply.bytes, state: next }
    return {
      kind: 'poll',
      request: readRequest(formed, id, state),
      afterMs: POLL_AFTER_MS,
      status,
      state: next,
    }
  }
  return {
    auth: dialect.auth,
    classify: (failure) => dialect.classify(failure),
    accepted: (reply, { state }) => read(reply, state),
    step: (reply, { state }) => read(reply, state),
    ...(dialect.respond === undefined ? {} : { respond: answerOffline }),
  }
}

/** What the sandbox produced is sent along, because nothing else stores it. */
function readRequest(formed: FormedRequest, id: string, { made }: JsonObject): HttpRequest {
  const address = new URL(formed.url)
  address.pathname = `${address.pathname}/${encodeURIComponent(id)}`
  const request = { method: 'GET', url: address.href, headers: formed.headers } as const
  return isJsonObject(made) ? { ...request, body: JSON.stringify(made) } : request
}
