/**
 * A form with documents, parsed as it arrives: each document streams into the blob store with back-pressure, so that
 * only a chunk of it is in memory. After an error everything stored is removed again.
 */
import { say, type Sentence } from '../../../core/sentences/say.ts'
import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { BlobStore } from '../../../storage/stores/blobs.ts'
import { type FieldFault, refuseFields } from './request-fields.ts'

export interface DocumentForm {
  readonly fields: Readonly<Record<string, string>>
  readonly documents: readonly StoredDocument[]
}

export interface StoredDocument {
  readonly name: string
  readonly blobKey: string
  readonly mediaType: string
  readonly bytes: number
  readonly sha256: string
}

export interface FormPlace {
  readonly blobs: Pick<BlobStore, 'put' | 'remove'>
  /** The key for the document with this number. */
  readonly keyOf: (index: number) => string
}

/** A photograph or a scan of a page. */
export const DOCUMENT_BYTES_MAX = 10 * 1_048_576
export const DOCUMENTS_MAX = 5
const FIELDS_MAX = 16
const FIELD_BYTES_MAX = 1_024
const NAME_BYTES_MAX = 64
const FILE_NAME_CHARACTERS_MAX = 200
const FORM_BYTES_MAX = DOCUMENTS_MAX * DOCUMENT_BYTES_MAX + 65_536

export async function readDocumentForm(request: IncomingMessage, place: FormPlace): Promise<DocumentForm> {
  const parser = openParser(request)
  const reading = new FormReading(place)
  reading.listen(parser)
  try {
    await feed(request, parser, reading)
    return await reading.finish()
  } catch (error) {
    parser.destroy()
    await reading.undo()
    throw error
  }
}

/** Removes everything that was stored, if the form turns out to be unacceptable. */
export async function removeDocuments(
  blobs: Pick<BlobStore, 'remove'>,
  documents: readonly StoredDocument[],
): Promise<void> {
  for (const { blobKey } of documents) await blobs.remove(blobKey)
}

class FormReading {
  readonly #place: FormPlace
  readonly #fields: Record<string, string> = {}
  readonly #keys: string[] = []
  readonly #stored: Promise<StoredDocument>[] = []
  readonly #faults: FieldFault[] = []
  #over: Promise<void> = Promise.resolve()
  #isRefused = false
  #refuse: () => void = () => undefined
  /** Resolves when the rest of the body no longer matters: something of it is wrong. */
  readonly refused: Promise<void> = new Promise((resolve) => {
    this.#refuse = resolve
  })

  constructor(place: FormPlace) {
    this.#place = place
  }

  listen(parser: BusboyInstance): void {
    this.#over = new Promise((resolve) => {
      parser.on('finish', resolve)
      parser.on('error', (error: unknown) => {
        this.#fault(
          '',
          say('not-a-form', { read: error instanceof Error ? error.message : 'it cannot be read' }),
        )
        resolve()
      })
    })
    parser.on('partsLimit', () => this.#fault('', say('too-many-parts')))
    parser.on('fieldsLimit', () => this.#fault('', say('at-most-fields', { most: FIELDS_MAX })))
    parser.on('filesLimit', () => this.#fault('', say('at-most-documents', { most: DOCUMENTS_MAX })))
    parser.on('field', (name: string, value: string, nameCut: boolean, valueCut: boolean) => {
      if (nameCut || valueCut) this.#fault(name, say('at-most-bytes', { most: FIELD_BYTES_MAX }))
      else if (Object.hasOwn(this.#fields, name)) this.#fault(name, say('appears-twice'))
      else this.#fields[name] = value
    })
    parser.on('file', (name: string, stream: BusboyFileStream, fileName: string | undefined) => {
      const index = this.#keys.length
      const blobKey = this.#place.keyOf(index)
      this.#keys.push(blobKey)
      const storing = this.#store(stream, { blobKey, name, fileName: fileName ?? '' })
      // Awaited at the end. Nobody reads on in a refused document, so the parser would wait for ever: reading ends here.
      storing.catch(() => this.#endEarly())
      this.#stored.push(storing)
    })
  }

  get isBroken(): boolean {
    return this.#isRefused
  }

  #endEarly(): void {
    this.#isRefused = true
    this.#refuse()
  }

  async finish(): Promise<DocumentForm> {
    if (!this.isBroken) await this.#over
    const settled = await Promise.allSettled(this.#stored)
    for (const result of settled) if (result.status === 'rejected') throw result.reason
    if (this.#faults.length > 0) throw refuseFields(this.#faults)
    return {
      fields: this.#fields,
      documents: settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    }
  }

  async undo(): Promise<void> {
    await Promise.allSettled(this.#stored)
    for (const key of this.#keys) await this.#place.blobs.remove(key)
  }

  async #store(
    stream: BusboyFileStream,
    {
      blobKey,
      name,
      fileName,
    }: { readonly blobKey: string; readonly name: string; readonly fileName: string },
  ): Promise<StoredDocument> {
    const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    const head = await readHead(chunks)
    const mediaType = mediaTypeOf(head)
    if (mediaType === undefined) {
      throw refuseFields([{ in: 'body', path: name, message: say('must-be-a-document') }])
    }
    const stored = await this.#place.blobs.put(blobKey, bounded(name, head, chunks), {
      mediaType,
      maxBytes: DOCUMENT_BYTES_MAX,
    })
    const shown = fileName.replace(/[\p{Cc}/\\]/gu, '').slice(0, FILE_NAME_CHARACTERS_MAX)
    return { name: shown === '' ? name : shown, blobKey, mediaType, ...stored }
  }

  #fault(path: string, message: Sentence): void {
    this.#faults.push({ in: 'body', path, message })
    this.#endEarly()
  }
}

/** Enough bytes to detect a file's type. */
const HEAD_BYTES = 12

async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0)
  while (head.length < HEAD_BYTES) {
    const next = await chunks.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
  }
  return head
}

async function* bounded(
  name: string,
  head: Buffer,
  chunks: AsyncIterator<Buffer>,
): AsyncGenerator<Uint8Array> {
  let bytes = head.length
  yield head
  for (;;) {
    const next = await chunks.next()
    if (next.done === true) return
    bytes += next.value.length
    if (bytes > DOCUMENT_BYTES_MAX)
      throw tooLarge(say('document-at-most-bytes', { name, most: DOCUMENT_BYTES_MAX }))
    yield next.value
  }
}

/** By the file's content: the type that its sender declares proves nothing. */
function mediaTypeOf(head: Buffer): string | undefined {
  const text = head.toString('latin1')
  if (text.startsWith('%PDF-')) return 'application/pdf'
  if (text.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg'
  if (text.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png'
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp'
  return undefined
}

function openParser(request: IncomingMessage): BusboyInstance {
  const { 'content-type': contentType = '', 'content-length': length } = request.headers
  if (Number(length ?? 0) > FORM_BYTES_MAX)
    throw tooLarge(say('form-at-most-bytes', { most: FORM_BYTES_MAX }))
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: {
        fieldNameSize: NAME_BYTES_MAX,
        fieldSize: FIELD_BYTES_MAX,
        fields: FIELDS_MAX,
        files: DOCUMENTS_MAX,
        parts: FIELDS_MAX + DOCUMENTS_MAX + 1,
        headerPairs: 32,
        headerSize: 16_384,
      },
    })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw refuseFields([{ in: 'body', path: '', message: say('must-be-multipart') }])
  }
}

/** Resolves when the whole body was read; rejects if it breaks off, is too large or is not a form. */
async function feed(request: IncomingMessage, parser: BusboyInstance, reading: FormReading): Promise<void> {
  let bytes = 0
  for await (const chunk of chunksOf(request)) {
    bytes += chunk.length
    if (bytes > FORM_BYTES_MAX) throw tooLarge(say('form-at-most-bytes', { most: FORM_BYTES_MAX }))
    if (reading.isBroken) return
    if (!parser.write(chunk)) await Promise.race([drained(parser), reading.refused])
    if (reading.isBroken) return
  }
  parser.end()
}

/** Leaving early must not close the connection: the refusal is sent over it. */
function chunksOf(request: IncomingMessage): AsyncIterable<Buffer> {
  return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
}

function drained(parser: BusboyInstance): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      parser.off('drain', go)
      parser.off('error', go)
      resolve()
    }
    parser.on('drain', go)
    parser.on('error', go)
  })
}

function tooLarge(message: Sentence): GatewayError {
  return new GatewayError(41301, { message })
}
