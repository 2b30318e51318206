import { readRange } from '../../../core/video/range.ts'
import type { Pipeline } from '../../context.ts'
import type { ClientReply } from '../../reply.ts'
import { sendStream } from './send-stream.ts'

/** Sends stored bytes, all or a range of them. False: there are none under this key. */
export async function sendBlob(
  pipeline: Pick<Pipeline, 'blobs'>,
  reply: ClientReply,
  wanted: {
    readonly key: string
    readonly range: string | undefined
    readonly body: 'wanted' | 'head-only'
  },
): Promise<boolean> {
  const found = await pipeline.blobs.find(wanted.key)
  if (found === undefined) return false
  const range = readRange(wanted.range, found.bytes)
  const headers = { 'content-type': found.mediaType, 'accept-ranges': 'bytes', 'cache-control': 'private' }
  if (range.kind === 'unsatisfiable') {
    reply.start({
      status: 416,
      headers: { ...headers, 'content-range': `bytes */${found.bytes}` },
      contentLength: 0,
    })
    reply.end()
    return true
  }
  const part = range.kind === 'part' ? range : undefined
  const blob = wanted.body === 'wanted' ? await pipeline.blobs.open(wanted.key, part) : undefined
  if (wanted.body === 'wanted' && blob === undefined) return false
  reply.start({
    status: part === undefined ? 200 : 206,
    headers: {
      ...headers,
      ...(part === undefined ? {} : { 'content-range': `bytes ${part.start}-${part.end}/${found.bytes}` }),
    },
    contentLength: part === undefined ? found.bytes : part.end - part.start + 1,
  })
  if (blob === undefined) reply.end()
  else await sendStream(reply, blob.body)
  return true
}
