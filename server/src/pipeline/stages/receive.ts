import { GatewayError } from '../../core/errors/gateway-error.ts'
import { type ModelId, modelId } from '../../core/ids.ts'
import { createFormScanner, isForm } from '../../core/passthrough/requests/form-scan.ts'
import { createRequestScanner, type RequestScanner } from '../../core/passthrough/requests/request-scan.ts'
import type { ScannedRequest } from '../../core/passthrough/requests/scanned-request.ts'
import { type Soon, whenKnown } from '../../core/soon.ts'
import { advance, type AuthenticatedCall, type ReceivedBody, type ReceivedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import { BodyMemory } from '../instance/body-blocks.ts'
import type { BodyFile } from '../instance/body-files.ts'
import { wireOf } from '../kinds/wire.ts'

export type ReceiveParts = Pick<Pipeline, 'bodyBlocks' | 'bodyBudget' | 'bodyFiles' | 'limits'>

/**
 * Reads the body and extracts from its bytes what routing and accounting need, without parsing the whole document.
 * Refuses a body that is too large (before reading, if the length is known), is not a JSON object or form, or names no
 * model.
 */
export function receive(pipeline: ReceiveParts, call: AuthenticatedCall): Soon<ReceivedCall> {
  const { bodyLimitBytes } = pipeline.limits
  if (call.contentLength !== undefined && call.contentLength > bodyLimitBytes) throw new GatewayError(41301)
  const { scanner, isForm: spills } = scannerFor(pipeline, call)
  const body = keepBody(pipeline, spills ? FORM : DOCUMENT)
  const refuse = (error: unknown): never => {
    body.release()
    throw error
  }
  let arrived = 0
  try {
    const read = call.readBody((chunk) => {
      arrived += chunk.byteLength
      if (arrived > bodyLimitBytes) throw new GatewayError(41301)
      // The rest of a refused body is read, so that the client gets the error, but not kept.
      return scanner.push(chunk) ? body.keep(chunk) : body.release()
    })
    const whole = whenKnown(read, () => received(call, scanner, body))
    return whole instanceof Promise ? whole.catch(refuse) : whole
  } catch (error) {
    return refuse(error)
  }
}

/** The scanner is not part of it: a call keeps the bytes of its body, and nothing that was needed to read them. */
function received(call: AuthenticatedCall, scanner: RequestScanner, body: KeptBody): ReceivedCall {
  const scan = scanner.end()
  if (scan.kind === 'refused') throw new GatewayError(scan.code, { message: scan.message })
  return advance(call, {
    stage: 'received',
    body: body.received(),
    scan,
    modelId: requestedModel(call, scan),
    stream: call.endpoint.streamVerb ?? scan.stream,
    user: scan.user,
  })
}

function requestedModel(call: AuthenticatedCall, scan: ScannedRequest): ModelId {
  const named = call.endpoint.pathModel ?? scan.model
  if (named === undefined || named === '') throw new GatewayError(40002)
  return modelId(named)
}

/** Where the bytes of a body are kept. */
interface Keeping {
  /** A body of more bytes does not stay in the buffers it was read into, but is copied to memory that is used again. */
  readonly inOwnBuffersMax: number
  /** Bytes in memory; the rest goes to a file. */
  readonly inMemoryMax: number
}

/** It is scanned and spliced in memory. */
const DOCUMENT: Keeping = { inOwnBuffersMax: 131_072, inMemoryMax: Number.POSITIVE_INFINITY }
const FORM: Keeping = { inOwnBuffersMax: Number.POSITIVE_INFINITY, inMemoryMax: 1_048_576 }

interface KeptBody extends Pick<ReceivedBody, 'release'> {
  /** Throws 50301 when it does not fit. */
  keep(chunk: Uint8Array): void | Promise<void>
  received(): ReceivedBody
}

function keepBody(
  { bodyBlocks, bodyBudget, bodyFiles }: Pick<Pipeline, 'bodyBlocks' | 'bodyBudget' | 'bodyFiles'>,
  { inOwnBuffersMax, inMemoryMax }: Keeping,
): KeptBody {
  const chunks: Uint8Array[] = []
  let memory: BodyMemory | undefined
  let file: BodyFile | undefined
  let length = 0
  let held = 0
  let released = false
  const release = (): void => {
    released = true
    bodyBudget.give(held)
    held = 0
    chunks.length = 0
    file?.close()
  }
  const hold = (bytes: number): void => {
    bodyBudget.take(bytes)
    held += bytes
  }
  const spill = async (chunk: Uint8Array): Promise<void> => {
    file ??= await bodyFiles.open()
    // The client may have disconnected while the file was opened.
    if (released) file.close()
    else await file.append(chunk)
  }
  return {
    release,
    keep(chunk) {
      hold(chunk.byteLength)
      length += chunk.byteLength
      if (length > inMemoryMax) return spill(chunk)
      if (length <= inOwnBuffersMax) chunks.push(chunk)
      else {
        memory ??= new BodyMemory(bodyBlocks)
        for (const early of chunks.splice(0)) memory.append(early)
        memory.append(chunk)
      }
      return undefined
    },
    received() {
      const stored = file === undefined ? {} : { stored: file.stored, descriptor: file.descriptor }
      if (memory !== undefined) chunks.push(...memory.pieces())
      return { chunks, memory, length, memo: {}, hold, release, ...stored }
    },
  }
}

function scannerFor(
  { limits }: Pick<Pipeline, 'limits'>,
  { endpoint, headers }: AuthenticatedCall,
): { readonly scanner: RequestScanner; readonly isForm: boolean } {
  const type = headers['content-type']
  const { forms } = endpoint.kind
  if (forms !== undefined && takesForms(endpoint) && isForm(type))
    return { scanner: createFormScanner(forms, type), isForm: true }
  if (endpoint.kind.form?.listens === true)
    throw new GatewayError(40000, {
      message: 'the request body must be a form: send it as multipart/form-data with its boundary',
    })
  return { scanner: createRequestScanner(wireOf(endpoint.protocol).requests, limits), isForm: false }
}

function takesForms({ kind, path }: AuthenticatedCall['endpoint']): boolean {
  return kind.paths.some((one) => one.path === path && one.forms === true)
}
