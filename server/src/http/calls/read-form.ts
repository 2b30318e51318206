/**
 * Reads the body of an order, JSON or multipart, as it arrives. A form is split into its parts while it arrives, so
 * that its files are in memory only once, without the form around them.
 */
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Soon } from '../../core/soon.ts'
import { JsonScanner } from '../../core/passthrough/json-scanner.ts'
import { compileWatchTree } from '../../core/passthrough/watch-tree.ts'
import type { FormPart, ReceivedForm } from '../../core/video/form.ts'

export interface FormSource {
  readonly contentType: string | undefined
  readonly readBody: (onChunk: (chunk: Uint8Array) => void) => Soon<void>
  /** Called with the size of each piece before it is kept; may throw to refuse the rest. */
  readonly onBytes: (bytes: number) => void
  /** Limit for a text part, bytes; it may contain an image as a data address. */
  readonly textBytesMax: number
}

export function readForm(source: FormSource): Promise<ReceivedForm> {
  const type = (source.contentType ?? '').split(';', 1)[0]?.trim().toLowerCase()
  return type === 'multipart/form-data' ? readMultipart(source) : readJson(source)
}

async function readJson({ readBody, onBytes }: FormSource): Promise<ReceivedForm> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Read as it arrives, without building the document; members count at every depth.
  const scanner = new JsonScanner(UNWATCHED, { onValue: () => undefined })
  let isBlank = true
  let isJson = true
  await readBody((chunk) => {
    onBytes(chunk.byteLength)
    length += chunk.byteLength
    isBlank &&= chunk.every((byte) => byte <= SPACE)
    // The rest of a refused body is read, so that the client gets the error, but not kept.
    if (!isJson || scanner.values > VALUES_MAX) return
    isJson = scanner.push(chunk, 0, chunk.byteLength)
    chunks.push(chunk)
  })
  if (scanner.values > VALUES_MAX) {
    throw new GatewayError(40000, {
      message: `the request body holds more than ${MEMBERS_MAX} members and items`,
    })
  }
  if (isBlank) return { kind: 'empty' }
  return isJson && scanner.end() ? { kind: 'json', chunks, length } : { kind: 'not-json' }
}

const SPACE = 0x20
/** An order has a dozen members; its images are strings. */
const MEMBERS_MAX = 10_000
/** The document itself is a value too. */
const VALUES_MAX = MEMBERS_MAX + 1

const UNWATCHED = compileWatchTree([])

/** A form of an order has a dozen parts; these limit the cost of a malicious one. */
const PARTS_MAX = 256
const FILES_MAX = 32
const NAME_BYTES_MAX = 256
const PART_HEAD_BYTES_MAX = 16_384
const PART_HEADERS_MAX = 32

async function readMultipart(source: FormSource): Promise<ReceivedForm> {
  const parser = openParser(source)
  if (parser === undefined) {
    await source.readBody((chunk) => source.onBytes(chunk.byteLength))
    return { kind: 'unreadable', detail: 'the content type names no boundary' }
  }
  const gathering = gather(parser)
  let length = 0
  try {
    await source.readBody((chunk) => {
      source.onBytes(chunk.byteLength)
      length += chunk.byteLength
      if (gathering.trouble === undefined) parser.write(chunk)
    })
  } catch (error) {
    parser.destroy()
    throw error
  }
  if (length === 0) return { kind: 'empty' }
  if (gathering.trouble === undefined) {
    parser.end()
    await gathering.over
  }
  const { trouble, parts } = gathering
  return trouble === undefined ? { kind: 'multipart', parts } : { kind: 'unreadable', detail: trouble }
}

/** The parts received so far. */
interface Gathering {
  readonly parts: FormPart[]
  /** The first reason why this is not a valid form. */
  trouble: string | undefined
  readonly over: Promise<void>
}

function gather(parser: BusboyInstance): Gathering {
  const gathering: Gathering = {
    parts: [],
    trouble: undefined,
    over: new Promise((resolve) => {
      parser.on('finish', resolve)
      parser.on('error', (error: unknown) => {
        gathering.trouble ??= error instanceof Error ? error.message : 'it is not a form'
        resolve()
      })
    }),
  }
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
    parser.on(limit, () => {
      gathering.trouble ??= 'the form has too many parts'
    })
  }
  parser.on('field', (name: string, value: string, nameCut: boolean, valueCut: boolean) => {
    if (nameCut || valueCut) gathering.trouble ??= 'a part of the form is too long'
    gathering.parts.push({ name, value })
  })
  parser.on('file', (name: string, stream: BusboyFileStream, ...[, , mediaType]: readonly string[]) =>
    gatherFile(gathering, stream, { name, mediaType: mediaType ?? '' }),
  )
  return gathering
}

function gatherFile(
  gathering: Gathering,
  stream: BusboyFileStream,
  { name, mediaType }: { readonly name: string; readonly mediaType: string },
): void {
  const chunks: Buffer[] = []
  const place = gathering.parts.push({ name, value: '' }) - 1
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('error', (error: Error) => {
    gathering.trouble ??= error.message
  })
  stream.on('end', () => {
    gathering.parts[place] = { name, value: { mediaType, bytes: joined(chunks) } }
  })
}

/** In memory that threads share, so that a large image is not copied again when its order is read in a thread. */
function joined(chunks: readonly Buffer[]): Uint8Array {
  const length = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  const bytes = new Uint8Array(new SharedArrayBuffer(length))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

/** undefined: the content type is not that of a readable form. */
function openParser({ contentType, textBytesMax }: FormSource): BusboyInstance | undefined {
  try {
    return new Busboy({
      headers: { 'content-type': contentType ?? '' },
      limits: {
        fieldNameSize: NAME_BYTES_MAX,
        fieldSize: textBytesMax,
        fields: PARTS_MAX,
        files: FILES_MAX,
        parts: PARTS_MAX,
        headerPairs: PART_HEADERS_MAX,
        headerSize: PART_HEAD_BYTES_MAX,
      },
    })
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}
