/** Blobs as objects of an S3-compatible store. The SDK is loaded only where this file is. */
import { Readable } from 'node:stream'
import {
  GetObjectCommand,
  HeadObjectCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import type { Secret } from '../../core/secret.ts'
import { BlobSource, blobUnavailable, segmentsOf } from '../blob-source.ts'
import type { BlobStore, OpenBlob, StoredBlob } from '../stores/blobs.ts'

export interface S3BlobOptions {
  readonly bucket: string
  /** Prefix of every key, without a trailing slash; empty: none. */
  readonly prefix: string
  /** undefined: Amazon's own endpoint. */
  readonly endpoint: string | undefined
  /** undefined: from the usual AWS variables and files. */
  readonly region: string | undefined
  /** True: the bucket is in the path, not in the host name. */
  readonly pathStyle: boolean
  /** undefined: from the usual AWS variables, files and instance roles. */
  readonly credentials: S3Credentials | undefined
}

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: Secret
  readonly sessionToken: Secret | undefined
}

/** S3's minimum is 5 MiB; one upload holds at most `PART_BYTES` × (`PARTS_AT_ONCE` + 1). */
const PART_BYTES = 8 * 1_024 * 1_024
const PARTS_AT_ONCE = 2
const CONNECT_TIMEOUT_MS = 5_000
/** Between two bytes, not over the whole transfer. */
const IDLE_TIMEOUT_MS = 30_000
/** Stores other than Amazon's mostly ignore it, but the signature needs one. */
const ANY_REGION = 'us-east-1'
const UNTYPED = 'application/octet-stream'

export function openS3Blobs(options: S3BlobOptions): BlobStore {
  const client = openClient(options)
  const place = (key: string) => ({ Bucket: options.bucket, Key: objectKey(options.prefix, key) })

  async function find(key: string) {
    const head = await unlessMissing(() => client.send(new HeadObjectCommand(place(key))))
    if (head === undefined) return undefined
    if (head.ContentLength === undefined) throw blobUnavailable(new Error('the object has no length'))
    return { bytes: head.ContentLength, mediaType: head.ContentType ?? UNTYPED }
  }

  return {
    async put(key, source, putting) {
      return putObject(client, place(key), { ...putting, source })
    },

    async open(key, range): Promise<OpenBlob | undefined> {
      const found = await find(key)
      return found && { ...found, body: readObject(client, place(key), range) }
    },

    find,

    async remove(key) {
      await unlessMissing(() => client.send(new DeleteObjectCommand(place(key))))
    },

    async ping(abortSignal) {
      const ping = place('ping')
      await overNetwork(() => client.send(new PutObjectCommand({ ...ping, Body: 'ping' }), { abortSignal }))
      await overNetwork(() => client.send(new HeadObjectCommand(ping), { abortSignal }))
    },

    async close() {
      client.destroy()
    },
  }
}

interface Put {
  readonly source: AsyncIterable<Uint8Array>
  readonly mediaType: string
  readonly maxBytes: number
}

async function putObject(
  client: S3Client,
  place: ObjectPlace,
  { source, mediaType, maxBytes }: Put,
): Promise<StoredBlob> {
  const measured = new BlobSource(source, maxBytes)
  const body = Readable.from(measured, { objectMode: false })
  const upload = new Upload({
    client,
    params: { ...place, Body: body, ContentType: mediaType },
    partSize: PART_BYTES,
    queueSize: PARTS_AT_ONCE,
  })
  try {
    await upload.done()
    return measured.stored()
  } catch (error) {
    throw measured.errorOf(error)
  } finally {
    body.destroy()
  }
}

interface ObjectPlace {
  readonly Bucket: string
  readonly Key: string
}

function openClient({ endpoint, region, pathStyle, credentials }: S3BlobOptions): S3Client {
  const wanted = region ?? (endpoint === undefined ? undefined : ANY_REGION)
  return new S3Client({
    forcePathStyle: pathStyle,
    // Stores other than Amazon's mostly refuse the checksums the SDK would add by itself.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
    ...(endpoint !== undefined && { endpoint }),
    ...(wanted !== undefined && { region: wanted }),
    ...(credentials !== undefined && {
      credentials: {
        accessKeyId: credentials.accessKeyId,
        secretAccessKey: credentials.secretAccessKey.unwrap(),
        ...(credentials.sessionToken !== undefined && { sessionToken: credentials.sessionToken.unwrap() }),
      },
    }),
  })
}

function objectKey(prefix: string, key: string): string {
  const name = segmentsOf(key).join('/')
  return prefix === '' ? name : `${prefix}/${name}`
}

/** Requested when the first byte is read: an unread body holds no connection. */
async function* readObject(
  client: S3Client,
  place: ObjectPlace,
  range: { readonly start: number; readonly end: number } | undefined,
): AsyncGenerator<Uint8Array> {
  const asked = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }
  const { Body: body, ContentRange: given } = await overNetwork(() =>
    client.send(new GetObjectCommand({ ...place, ...asked })),
  )
  if (!(body instanceof Readable)) throw blobUnavailable(new Error('the object has no body'))
  try {
    if (range !== undefined && given?.startsWith(`bytes ${range.start}-`) !== true) {
      throw new Error(`the store answered a range with ${given ?? 'the whole object'}`)
    }
    yield* firstBytes(body, range === undefined ? Number.POSITIVE_INFINITY : range.end - range.start + 1)
  } catch (error) {
    throw blobUnavailable(error)
  } finally {
    body.destroy()
  }
}

/** Some stores return more than a range that ends at the first byte. */
async function* firstBytes(body: Readable, count: number): AsyncGenerator<Uint8Array> {
  let left = count
  for await (const chunk of body) {
    const bytes = asBytes(chunk)
    yield bytes.length > left ? bytes.subarray(0, left) : bytes
    left -= bytes.length
    if (left <= 0) return
  }
}

function asBytes(chunk: unknown): Uint8Array {
  if (!(chunk instanceof Uint8Array)) throw new Error('the object came as something else than bytes')
  return chunk
}

/** `HEAD` has no body for `NoSuchKey`, so the status decides. */
async function unlessMissing<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  return overNetwork(async () => {
    try {
      return await work()
    } catch (error) {
      const missing = error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404
      if (missing && error.name !== 'NoSuchBucket') return undefined
      throw error
    }
  })
}

async function overNetwork<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw blobUnavailable(error)
  }
}
