import { GatewayError } from '../../core/errors/gateway-error.ts'
import { type ModelId, modelId } from '../../core/ids.ts'
import { createFormScanner, isForm } from '../../core/passthrough/requests/form-scan.ts'
import { createRequestScanner, type RequestScanner } from '../../core/passthrough/requests/request-scan.ts'
import type { StoredBytes } from '../../core/passthrough/splice.ts'
import type { ScannedRequest } from '../../core/passthrough/requests/scanned-request.ts'
import { type Soon, whenKnown } from '../../core/soon.ts'
import { advance, type AuthenticatedCall, type ReceivedBody, type ReceivedCall } from '../call.ts'
import type { BodyMemo } from '../body-memo.ts'
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
  const body = new KeptBody(pipeline, spills ? FORM : DOCUMENT)
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
  body.end()
  return advance(call, {
    stage: 'received',
    body,
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

/** A body while it arrives, and after that. */
class KeptBody implements ReceivedBody {
  readonly chunks: Uint8Array[] = []
  readonly memo: BodyMemo = {}
  length = 0
  memory: BodyMemory | undefined
  readonly #parts: Pick<Pipeline, 'bodyBlocks' | 'bodyBudget' | 'bodyFiles'>
  readonly #keeping: Keeping
  #file: BodyFile | undefined
  #held = 0
  #released = false

  constructor(parts: Pick<Pipeline, 'bodyBlocks' | 'bodyBudget' | 'bodyFiles'>, keeping: Keeping) {
    this.#parts = parts
    this.#keeping = keeping
  }

  get stored(): StoredBytes | undefined {
    return this.#file?.stored
  }

  get descriptor(): number | undefined {
    return this.#file?.descriptor
  }

  /** Throws 50301 when it does not fit. */
  keep(chunk: Uint8Array): void | Promise<void> {
    this.hold(chunk.byteLength)
    this.length += chunk.byteLength
    if (this.length > this.#keeping.inMemoryMax) return this.#spill(chunk)
    if (this.length <= this.#keeping.inOwnBuffersMax) this.chunks.push(chunk)
    else {
      this.memory ??= new BodyMemory(this.#parts.bodyBlocks)
      for (const early of this.chunks.splice(0)) this.memory.append(early)
      this.memory.append(chunk)
    }
    return undefined
  }

  /** All of it is here. */
  end(): void {
    if (this.memory !== undefined) this.chunks.push(...this.memory.pieces())
  }

  hold(bytes: number): void {
    this.#parts.bodyBudget.take(bytes)
    this.#held += bytes
  }

  release(): void {
    this.#released = true
    this.#parts.bodyBudget.give(this.#held)
    this.#held = 0
    this.chunks.length = 0
    this.#file?.close()
  }

  async #spill(chunk: Uint8Array): Promise<void> {
    this.#file ??= await this.#parts.bodyFiles.open()
    // The client may have disconnected while the file was opened.
    if (this.#released) this.#file.close()
    else await this.#file.append(chunk)
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
